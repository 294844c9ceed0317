/* slabs.c - see slabs.h. */
#include "wrap/reach/slabs.h"

/* How many entries of the table are looked at. */
#define PROBES 16u

/* A block, and the first places in it to which pointers lead. */
struct watched {
	uintptr_t block; /* 0: the entry is free */
	uintptr_t places[LEAKWRAP_SLAB_PLACES - 1];
};

_Static_assert(LEAKWRAP_SLABS_MAX * sizeof(struct watched) == LEAKWRAP_SLABS_SIZE,
               "the table has its memory");

static struct watched *table;

void leakwrap_slabs_start(void *memory)
{
	table = memory;
}

/* Returns the entry of BLOCK, or NULL if there is no room. */
static struct watched *find(uintptr_t block)
{
	/* Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4). */
	const uint32_t hash = (uint32_t)(block / 16) * 2654435761u >> 8;

	for (uint32_t i = 0; i < PROBES; i++) {
		struct watched *const entry = &table[(hash + i) % LEAKWRAP_SLABS_MAX];

		if (entry->block == 0)
			entry->block = block;
		if (entry->block == block)
			return entry;
	}
	return NULL;
}

bool leakwrap_slabs_add(uintptr_t block, size_t size, uintptr_t word)
{
	struct watched *entry;

	if (size < LEAKWRAP_SLAB_MIN || word % sizeof(word) != 0)
		return false;
	entry = find(block);
	if (!entry)
		return false;
	for (unsigned i = 0; i < LEAKWRAP_SLAB_PLACES - 1; i++) {
		if (entry->places[i] == 0)
			entry->places[i] = word;
		if (entry->places[i] == word)
			return false;
	}
	return true;
}
