/* library_headers.c - holds the elements of objects as SpiderMonkey does, vectors as NTL does,
 * languages as Pango does, blocks as Z3 does, messages as libcoap does, capabilities as libcap
 * does, and arrays as libyang does: by pointers behind a header.  Similar blocks are none of
 * theirs. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clear_stack.h"
#include "tests/noinline.h"

enum { KEPT = 50, OTHERS = 28, ROOM = 12, REMOVED = 3, ELEMENT = 24, LENGTH = 40 };

/* Like ObjectElements of SpiderMonkey (js/src/vm/NativeObject.h), which has the number of removed
 * elements in the upper bits of the marks. */
struct elements {
	uint32_t marks, used, room, length;
	uint64_t element[ROOM];
};

/* Like struct _ntl_VectorHeader of NTL (include/NTL/vector.h). */
struct vector {
	long length, room, made, is_fixed;
	char element[ROOM][ELEMENT];
};

/* The words in front of those of a WordVector of NTL: twice the room for them, and their number. */
struct words {
	unsigned long room, length, element[ROOM];
};

/* Like PangoLanguagePrivate (pango/pango-language.c). */
struct language {
	const void *of_language, *scripts;
	int mark;
} __attribute__((aligned(sizeof(void *))));

/* What Z3 has in front of a block, of a vector and of a list of watches
 * (src/util/memory_manager.cpp, src/util/vector.h, src/smt/watch_list.cpp). */
struct sized {
	size_t size;
	char bytes[LENGTH];
};

struct sized_vector {
	size_t size;
	uint32_t room, count;
	char element[ROOM][ELEMENT];
};

struct watches {
	size_t size;
#if UINTPTR_MAX > UINT32_MAX
	uint32_t unused;
#endif
	uint32_t clauses_end, literals, room;
	char bytes[LENGTH];
};

/* A block of libcap (libcap/cap_alloc.c, struct _cap_alloc_s). */
struct capabilities {
	uint32_t mark, size;
	char bytes[LENGTH];
};

/* An array of libyang (src/tree_edit.h, LY_ARRAY_CREATE). */
struct addresses {
	uint64_t count;
	void *address[ROOM];
};

/* A message of libcoap (include/coap3/coap_pdu_internal.h, struct coap_pdu_t). */
struct message {
	int type, code, number;
	uint8_t header_max, header, token, critical;
	uint16_t option;
	size_t room, used, most;
	char *volatile bytes;
};

static struct message messages[KEPT], false_messages[5];
static void *volatile kept[8 * KEPT];
static void *volatile of_libcap[KEPT], *volatile of_libyang[KEPT];
static void *volatile others[OTHERS];

static struct elements *make_elements(uint32_t marks, uint32_t used, uint32_t room, uint32_t length)
{
	struct elements *const block = calloc(1, sizeof(*block));

	block->marks = marks;
	block->used = used;
	block->room = room;
	block->length = length;
	return block;
}

/* Removes the first COUNT elements, of which there are REMOVED for the header, which moves. */
static void *remove_elements(struct elements *block, unsigned count)
{
	const uint32_t used = block->used - count, room = block->room - count;
	const uint32_t numbers[] = {(uint32_t)REMOVED << 21, used, room, block->length - count};

	memcpy(&block->element[count - 2], numbers, sizeof(numbers));
	return &block->element[count];
}

static struct vector *make_vector(long length, long room, long made, long is_fixed)
{
	struct vector *const block = calloc(1, sizeof(*block));

	block->length = length;
	block->room = room;
	block->made = made;
	block->is_fixed = is_fixed;
	return block;
}

static struct words *make_words(unsigned long room, unsigned long length)
{
	struct words *const block = calloc(1, sizeof(*block));

	block->room = room;
	block->length = length;
	return block;
}

static char *make_language(int mark)
{
	struct language *const block = calloc(1, sizeof(*block) + sizeof("de"));

	block->mark = mark;
	return (char *)(block + 1);
}

static struct sized *make_sized(size_t more)
{
	struct sized *const block = calloc(1, sizeof(*block));

	block->size = sizeof(*block) + more;
	return block;
}

static struct sized_vector *make_sized_vector(uint32_t room, uint32_t count)
{
	struct sized_vector *const block = calloc(1, sizeof(*block));

	block->size = sizeof(*block);
	block->room = room;
	block->count = count;
	return block;
}

static struct watches *make_watches(uint32_t clauses_end, uint32_t literals, uint32_t room)
{
	struct watches *const block = calloc(1, sizeof(*block));

	block->size = sizeof(*block);
	block->clauses_end = clauses_end;
	block->literals = literals;
	block->room = room;
	return block;
}

/* Makes the bytes of a message, behind HEADER_MAX bytes. */
static void make_message(struct message *message, uint8_t header_max, size_t room, size_t used)
{
	char *const block = calloc(1, header_max + (size_t)LENGTH);

	message->header_max = header_max;
	message->room = room;
	message->used = used;
	message->most = 1152;
	message->bytes = block + header_max;
	/* cppcheck-suppress memleak ; the block is kept by its message */
}

static NOINLINE void make_others_of_coap(void)
{
	make_message(&false_messages[0], 4, LENGTH + 1, 5);
	make_message(&false_messages[1], 6, LENGTH, LENGTH + 1);
	make_message(&false_messages[2], 4, LENGTH, 5);
	false_messages[2].header_max = 6; /* another header */
	make_message(&false_messages[3], 6, LENGTH, 5);
	false_messages[3].most = LENGTH - 1;
	make_message(&false_messages[4], 4, 0, 0);
}

static NOINLINE void make_others_of_z3(void)
{
	others[15] = make_sized(1)->bytes;
	others[16] = make_sized(0)->bytes + 4;
	others[17] = make_sized_vector(ROOM, ROOM + 1)->element;
	others[18] = make_sized_vector(ROOM + 1, 0)->element;
	others[19] = make_watches(9, 8, LENGTH)->bytes;
	others[20] = make_watches(8, 8, LENGTH + 1)->bytes;
}

static struct capabilities *make_capabilities(uint32_t mark)
{
	struct capabilities *const block = calloc(1, sizeof(*block));

	block->mark = mark;
	block->size = sizeof(*block);
	return block;
}

/* Makes an array of addresses.  COUNT are counted, and USED are there. */
static struct addresses *make_addresses(uint64_t count, unsigned used)
{
	struct addresses *const array = calloc(1, sizeof(*array));

	array->count = count;
	for (unsigned i = 0; i < used; i++)
		array->address[i] = (void *)(uintptr_t)&others[i];
	return array;
}

static NOINLINE void make_others_of_libcap_and_libyang(void)
{
	struct capabilities *const larger = make_capabilities(0xca90d0);
	struct addresses *const of_numbers = make_addresses(5, 5);

	larger->size++;
	of_numbers->address[4] = (void *)(uintptr_t)8;
	others[21] = larger->bytes;
	others[22] = make_capabilities(0xca90d1)->bytes;
	others[23] = make_capabilities(0xca90d0)->bytes + 8;
	others[24] = of_numbers->address;
	others[25] = make_addresses(5, 6)->address;
	others[26] = make_addresses(5, 4)->address;
	others[27] = make_addresses(ROOM + 1, ROOM)->address;
}

static NOINLINE void make_others(void)
{
	others[0] = make_elements(1, 4, ROOM, 4)->element;        /* a mark that no block has */
	others[1] = make_elements(0, ROOM + 1, ROOM, 0)->element; /* more than there is room for */
	others[2] = make_elements(0, 4, ROOM - 1, 4)->element;    /* another room */
	others[3] = make_elements(0, 6, ROOM, 5)->element;        /* a shorter array */
	others[4] = make_elements(0, 0, ROOM, 0)->element;        /* one number */
	others[5] =
	        remove_elements(make_elements(0, 9, ROOM, 9), 4); /* another number of removed */
	others[6] = make_vector(5, ROOM, 4, 0)->element;
	others[7] = make_vector(4, ROOM, ROOM + 1, 0)->element;
	others[8] = make_vector(4, ROOM + 8, 4, 0)->element;
	others[9] = make_vector(4, ROOM, 4, 7)->element;
	others[10] = make_vector(0, 0, 0, 0)->element;
	others[11] = make_words(2ul * ROOM, ROOM + 1)->element;
	others[12] = make_words(ROOM, 5)->element;
	others[13] = make_language(0x0be4dad1);
	others[14] = make_language(0x0be4dad0) + 1;
}

int main(void)
{
	static const uint32_t marks[] = {0xca90d0, 0xca95d0, 0xca91ab, 0xca91ac};

	for (unsigned i = 0; i < KEPT; i++) {
		void *volatile *const at = &kept[8 * (size_t)i];

		at[0] = make_elements(i % 2 * 8, i % ROOM, ROOM, 60)->element;
		at[1] = remove_elements(make_elements(0, 9, ROOM, 9), REMOVED);
		at[2] = make_vector(4, ROOM, 4 + i % 2, i % 2)->element;
		at[3] = make_words(2ul * ROOM + i % 2, i % ROOM)->element;
		at[4] = make_language(0x0be4dad0);
		at[5] = make_sized(0)->bytes;
		at[6] = make_sized_vector(ROOM, i % ROOM)->element;
		at[7] = make_watches(i % 8, 8, LENGTH)->bytes;
		of_libcap[i] = make_capabilities(marks[i % 4])->bytes;
		of_libyang[i] = make_addresses(5 + i % 6, 5 + i % 6)->address;
		make_message(&messages[i], i % 2 ? 4 : 6, i % 3 ? LENGTH : LENGTH / 2, i % 20);
	}
	make_others();
	make_others_of_z3();
	make_others_of_coap();
	make_others_of_libcap_and_libyang();
	clear_stack();
	return raise(SIGUSR1);
}
