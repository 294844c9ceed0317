/* sized_blocks.c - holds blocks as Tcl, BIND, MariaDB, MySQL and Free Pascal do, whose allocators
 * keep sizes in front of what a program asks for.  Similar blocks are none of theirs. */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { KEPT = 50, LOST = 3, OTHERS = 17, LENGTH = 30, SLAB = 16384, PART = 8192, MAGIC = 1234 };

/* What Tcl has in front of a block (generic/tclThreadAlloc.c, struct Block). */
struct sized {
	void *bucket;
	size_t size;
	char bytes[LENGTH];
};

/* What BIND has in front of a block (lib/isc/jemalloc_shim.h, size_info). */
struct aligned {
	union {
		size_t size;
		max_align_t alignment;
	} header;
	char bytes[LENGTH];
};

/* What MariaDB and MySQL have in front of a block (mysys/my_malloc, struct my_memory_header). */
struct of_mariadb {
	void *thread;
	size_t size;
	unsigned key;
	_Alignas(8) char bytes[LENGTH];
};

struct of_mysql {
	unsigned key, magic;
	size_t size;
	void *thread, *unused;
	char bytes[LENGTH];
};

/* What Free Pascal has in front of the elements of an array, and of the characters of a string. */
struct array {
	uint64_t length;
	intptr_t owners, highest;
	int element[LENGTH];
};

struct string {
	uint64_t length;
	uint16_t code_page, character;
	intptr_t owners, characters;
	char text[LENGTH + 1];
};

/* What it has in front of a part of a slab. */
struct part {
	unsigned char mark, bucket, unused, other_mark;
	size_t size;
	char bytes[];
};

static void *volatile kept[8 * KEPT];
static void *volatile others[OTHERS];

static struct sized *make_sized(size_t more)
{
	struct sized *const block = calloc(1, sizeof(*block));

	block->size = sizeof(*block) - offsetof(struct sized, bytes) + more;
	return block;
}

static struct aligned *make_aligned(size_t more)
{
	struct aligned *const block = calloc(1, sizeof(*block));

	block->header.size = sizeof(*block) - offsetof(struct aligned, bytes) + more;
	return block;
}

static struct of_mariadb *make_of_mariadb(size_t more)
{
	struct of_mariadb *const block = calloc(1, sizeof(*block));

	block->size = sizeof(*block) - offsetof(struct of_mariadb, bytes) + more;
	return block;
}

static struct of_mysql *make_of_mysql(unsigned magic, size_t more)
{
	struct of_mysql *const block = calloc(1, sizeof(*block));

	block->magic = magic;
	block->size = sizeof(*block) - offsetof(struct of_mysql, bytes) + more;
	return block;
}

/* Makes a block of MariaDB, and stores MORE behind the address of its bytes in front of an aligned
 * part. */
static char *make_aligned_part(size_t more)
{
	struct of_mariadb *const block = make_of_mariadb(0);
	char **const part = (char **)(block->bytes + sizeof(char *));

	part[-1] = block->bytes + more;
	return (char *)part;
}

/* Makes a slab of two parts, of which the second is in use. */
static struct part *make_part(void)
{
	char *const slab = calloc(1, SLAB);
	struct part *const part = (struct part *)(slab + PART);

	part->mark = part->other_mark = 0xef;
	part->bucket = 8;
	part->size = PART - sizeof(*part);
	return part; /* cppcheck-suppress memleak ; the slab is kept by its part */
}

static struct array *make_array(intptr_t owners, intptr_t highest)
{
	struct array *const block = calloc(1, sizeof(*block));

	block->length = sizeof(*block) - sizeof(block->length);
	block->owners = owners;
	block->highest = highest;
	return block;
}

static struct string *make_string(uint16_t character, intptr_t characters)
{
	struct string *const block = calloc(1, sizeof(*block));

	block->length = sizeof(*block) - sizeof(block->length);
	block->character = character;
	block->owners = 1;
	block->characters = characters;
	return block;
}

/* Makes slabs that are none: one has another mark, one a larger part, one a larger size. */
static NOINLINE void make_false_parts(void)
{
	struct part *part[3];

	for (int i = 0; i < 3; i++) {
		part[i] = make_part();
		others[7 + i] = part[i]->bytes;
	}
	part[0]->other_mark = 0;
	part[1]->bucket++;
	part[2]->size++;
}

static NOINLINE void make_all(void)
{
	for (size_t i = 0; i < KEPT; i++) {
		kept[8 * i] = make_sized(0)->bytes;
		kept[8 * i + 1] = make_array(1, LENGTH - 1)->element;
		kept[8 * i + 2] = make_string(1, LENGTH)->text;
		kept[8 * i + 3] = make_part()->bytes;
		kept[8 * i + 4] = make_aligned(0)->bytes;
		kept[8 * i + 5] = make_of_mariadb(i % 4)->bytes;
		kept[8 * i + 6] = make_of_mysql(MAGIC, 0)->bytes;
		kept[8 * i + 7] = make_aligned_part(0);
	}
	make_false_parts();
	others[0] = make_sized(1)->bytes;
	others[1] = make_sized(0)->bytes + 1;
	others[2] = make_array(0, LENGTH - 1)->element;
	others[3] = make_array(1, LENGTH)->element;
	others[4] = make_string(2, LENGTH)->text;
	others[5] = make_string(1, 2 * (intptr_t)LENGTH)->text;
	others[6] = make_string(0, LENGTH)->text;
	others[10] = make_aligned(1)->bytes;
	others[11] = make_aligned(0)->bytes + 1;
	others[12] = make_of_mariadb(4)->bytes;
	others[13] = make_of_mariadb(0)->bytes + 1;
	others[14] = make_of_mysql(MAGIC, 8)->bytes;
	others[16] = make_of_mysql(MAGIC - 1, 0)->bytes;
	others[15] = make_aligned_part(8);
	for (int i = 0; i < LOST; i++) {
		make_aligned(0)->bytes[0] = 1;
		make_sized(0)->bytes[0] = 1;
		make_array(1, LENGTH - 1)->element[0] = 1;
		make_string(1, LENGTH)->text[0] = 1;
	}
}

int main(void)
{
	make_all();
	clear_stack();
	return raise(SIGUSR1);
}
