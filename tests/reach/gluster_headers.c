/* gluster_headers.c - holds blocks as GlusterFS does, by pointers behind its headers: blocks of a
 * size, and objects of its pools.  One block and one object lack the mark.  Then the program asks
 * for a dump. */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCKS = 30, TRAILER = 4, MAGIC = (int)0xcafebabe };

struct header {
	void *account;
	size_t size;
	uint32_t type;
	uint32_t magic;
};

struct object_header {
	size_t magic;
	void *next;
	void *thread_pools;
	unsigned power_of_two;
	void *pool;
};

static long pool;
static void *volatile blocks[BLOCKS];
static void *volatile objects[BLOCKS];

static void *make_block(size_t size, uint32_t magic)
{
	struct header *const made = calloc(1, sizeof(*made) + size + TRAILER);

	*made = (struct header){.account = &pool, .size = size, .type = 7, .magic = magic};
	return made + 1;
}

static void *make_object(unsigned power, uint32_t magic)
{
	struct object_header *const made = calloc(1, (size_t)1 << power);

	*made = (struct object_header){.magic = magic, .power_of_two = power, .pool = &pool};
	return made + 1;
}

int main(void)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = make_block(12 + i * 37, i == 0 ? 0 : (uint32_t)MAGIC);
		objects[i] = make_object(7 + i % 5, i == 0 ? 0 : (uint32_t)MAGIC);
	}
	return raise(SIGUSR1);
}
