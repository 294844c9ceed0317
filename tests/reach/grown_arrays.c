/* grown_arrays.c - holds arrays as stb_ds.h, Snowball, LMDB and Protocol Buffers do, which keep the
 * room for elements, or whose memory it is, in front of them.  Similar blocks are none of theirs.
 * Only with the option pointer_step= one of these is found, by a pointer that is not aligned. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 50, LOST = 3, OTHERS = 10, OTHER_FIELDS = 4, ROOM = 8, IDS = 17 };

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
	unsigned char letter[];
};

/* A list of IDs of LMDB (midl.c, mdb_midl_alloc). */
struct ids {
	size_t room, length, id[IDS];
};

/* What a repeated field of Protocol Buffers leads to, and the field. */
struct elements {
	void *arena;
	int element[ROOM];
};

struct field {
	int length, room;
	int *element;
};

static void *volatile kept[4 * KEPT];
static void *volatile others[OTHERS];
static volatile struct field fields[KEPT], other_fields[OTHER_FIELDS];
static volatile struct __attribute__((packed)) {
	char in_front;
	struct field field;
} unaligned;
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
	struct stem *const stem = calloc(1, sizeof(*stem) + ROOM + 1);

	stem->room = room;
	stem->length = length;
	return stem;
}

static struct ids *make_ids(size_t room, size_t length)
{
	struct ids *const ids = calloc(1, sizeof(*ids));

	ids->room = room;
	ids->length = length;
	return ids;
}

static struct elements *make_elements(void *arena)
{
	struct elements *const elements = calloc(1, sizeof(*elements));

	elements->arena = arena;
	return elements;
}

static NOINLINE void make_all(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		kept[4 * i] = make_array(i % ROOM, ROOM)->element;
		kept[4 * i + 1] = make_table()->element[1];
		kept[4 * i + 2] = make_stem(ROOM, (int)i % ROOM)->letter;
		kept[4 * i + 3] = &make_ids(IDS, i % IDS)->length;
		fields[i] = (struct field){(int)i % ROOM, ROOM, make_elements(NULL)->element};
	}
	others[0] = make_array(ROOM + 1, ROOM)->element;
	others[1] = make_array(1, ROOM + 1)->element;
	others[2] = make_array(ROOM, ROOM)->element[1];
	others[3] = make_table()->element[2];
	others[4] = make_stem(ROOM - 1, 0)->letter;
	others[5] = make_stem(ROOM, ROOM + 2)->letter;
	others[6] = &make_ids(IDS - 2, 1)->length;
	others[7] = &make_ids(IDS + 2, 1)->length;
	others[8] = make_ids(IDS, 1)->id;
	others[9] = &make_ids(IDS, IDS + 1)->length;
	other_fields[0] = (struct field){1, ROOM, make_elements(&table)->element};
	other_fields[1] = (struct field){1, ROOM, make_elements(NULL)->element + 1};
	other_fields[2] = (struct field){ROOM + 1, ROOM, make_elements(NULL)->element};
	other_fields[3] = (struct field){1, ROOM - 1, make_elements(NULL)->element};
	unaligned.field = (struct field){1, ROOM, make_elements(NULL)->element};
	for (int i = 0; i < LOST; i++) {
		make_array(1, ROOM)->number = 1;
		make_table()->number = 1;
		make_stem(ROOM, 0)->length = 1;
		make_ids(IDS, 0)->length = 1;
		make_elements(NULL)->element[0] = 1;
	}
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
