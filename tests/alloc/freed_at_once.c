/* A pool frees what it has handed out by freeing the blocks that it took: one block for each part,
 * or blocks with many parts. With POOL this is the pool, else the program. */
#include <signal.h>
#include <stdlib.h>

void *single_alloc(size_t size);
void single_free(void *part);
void *shared_alloc(size_t size);
void free_all(void);

#ifdef POOL

static struct block {
	struct block *next;
	size_t used;
	char bytes[];
} * single, *shared;

void *single_alloc(size_t size)
{
	struct block *const block = malloc(sizeof(*block) + size);

	block->next = single;
	single = block;
	return block->bytes;
}

/* Frees the newest part alone. */
void single_free(void *part)
{
	struct block *const block = single;

	(void)part;
	single = block->next;
	free(block);
}

void *shared_alloc(size_t size)
{
	const size_t room = 3000;

	if (!shared || shared->used + size > room) {
		struct block *const block = malloc(sizeof(*block) + room);

		block->next = shared;
		block->used = 0;
		shared = block;
	}
	shared->used += size;
	return shared->bytes + shared->used - size;
}

/* Frees each second block by a resize to 0 bytes. */
static void free_blocks(struct block *block)
{
	for (size_t i = 0; block; i++) {
		struct block *const next = block->next;

		free(i % 2 ? realloc(block, 0) : block);
		block = next;
	}
}

void free_all(void)
{
	free_blocks(single);
	free_blocks(shared);
	single = shared = NULL;
}

#else

static void *volatile kept;

static __attribute__((noinline)) void fill(void)
{
	void *newest = NULL;

	for (size_t i = 0; i < 1000; i++) {
		newest = single_alloc(40 + i % 5 * 1000);
		kept = shared_alloc(16 + i % 7 * 16);
	}
	single_free(newest);
}

int main(void)
{
	for (unsigned round = 0; round < 3; round++) {
		fill();
		raise(SIGUSR1);
		free_all();
		raise(SIGUSR1);
	}
	return 0;
}

#endif
