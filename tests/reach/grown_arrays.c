/* grown_arrays.c - holds arrays as stb_ds.h, Snowball and Protocol Buffers do, which keep the room
 * for elements, or whose memory it is, in front of them.  Similar blocks are none of theirs. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 50, LOST = 3, OTHERS = 9, ROOM = 7 };

/* An array of stb_ds.h (struct stbds_array_header). */
struct array {
	size_t length, room;
	void *table;
	ptrdiff_t number;
	int element[ROOM][4];
};

/* A word of Snowball. */
struct stem {
	int room, length;
	unsigned char letter[ROOM + 1];
};

/* A repeated field of Protocol Buffers. */
struct field {
	void *arena;
	int element[ROOM];
};

/* One that is shorter than any. */
struct short_field {
	void *arena;
	short element;
};

static void *volatile kept[4 * KEPT];
static void *volatile others[OTHERS];
static int table;

static struct array *make_array(size_t length, size_t room)
{
	struct array *const array = calloc(1, sizeof(*array));

	array->length = length;
	array->room = room;
	return array;
}

static struct array *make_table(void)
{
	struct array *const array = make_array(ROOM, ROOM);

	array->table = &table;
	return array;
}

static struct stem *make_stem(int room, int length)
{
	struct stem *const stem = calloc(1, sizeof(*stem));

	stem->room = room;
	stem->length = length;
	return stem;
}

static struct field *make_field(void *arena)
{
	struct field *const field = calloc(1, sizeof(*field));

	field->arena = arena;
	field->element[0] = 5;
	return field;
}

static NOINLINE void make_all(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		kept[4 * i] = make_array(i % ROOM, ROOM)->element;
		kept[4 * i + 1] = make_table()->element[1];
		kept[4 * i + 2] = make_stem(ROOM, (int)i % ROOM)->letter;
		kept[4 * i + 3] = make_field(NULL)->element;
	}
	others[0] = make_array(ROOM + 1, ROOM)->element;
	others[1] = make_array(1, ROOM + 2)->element;
	others[2] = make_array(ROOM, ROOM)->element[1];
	others[3] = make_table()->element[2];
	others[4] = make_stem(ROOM - 1, 0)->letter;
	others[5] = make_stem(ROOM, ROOM + 2)->letter;
	others[6] = make_field(&table)->element;
	others[7] = &make_field(NULL)->element[1];
	others[8] = &((struct short_field *)calloc(1, offsetof(struct short_field, element) +
	                                                      sizeof(short)))
	                     ->element;
	for (int i = 0; i < LOST; i++) {
		make_array(1, ROOM)->number = 1;
		make_table()->number = 1;
		make_stem(ROOM, 0)->length = 1;
		make_field(NULL)->element[1] = 1;
	}
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
