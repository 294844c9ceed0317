/* slabs.c - see slabs.h. */
#include "wrap/reach/slabs.h"

#include "wrap/base/hash.h"
#include "wrap/live/block_index.h"
#include "wrap/port/port.h"
#include "wrap/reach/sums.h"

/* The table has a power of two of entries.  This is the first power. */
#define FIRST_BITS 15u

/* A block, and the first places in it to which pointers lead. */
struct watched {
	uintptr_t block;                           /* 0: the entry is free */
	uint16_t places[LEAKWRAP_SLAB_PLACES - 1]; /* the numbers of words, from 1 on */
};

/* The blocks that are watched, in a table with open addressing. */
static struct {
	struct watched *entries; /* NULL: none yet */
	size_t count;            /* entries in use */
	unsigned bits;           /* the table has 1 << BITS entries */
	uint64_t memory;         /* the bytes that it may take after the first time */
} table;

void leakwrap_slabs_start(uint64_t memory)
{
	table.entries = NULL;
	table.count = 0;
	table.memory = memory;
}

static size_t room(void)
{
	return (size_t)1 << table.bits;
}

void leakwrap_slabs_end(void)
{
	if (table.entries)
		leakwrap_scratch_unmap(table.entries, room() * sizeof(*table.entries));
	table.entries = NULL;
}

/* Returns the entry of BLOCK, or the free entry where it belongs.  One entry is free at least. */
static struct watched *find(uintptr_t block)
{
	/* Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4). */
	size_t at = (uint32_t)(block / 16) * LEAKWRAP_HASH_FACTOR_32 >> (32 - table.bits);

	while (table.entries[at].block != 0 && table.entries[at].block != block)
		at = (at + 1) & (room() - 1);
	return &table.entries[at];
}

static bool is_reachable(uintptr_t address)
{
	struct leakwrap_indexed_block block;

	return leakwrap_block_index_find(address, &block) &&
	       (leakwrap_block_bits(&block) & LEAKWRAP_IS_REACHABLE) != 0;
}

/* Makes a table of 1 << BITS entries.  Leaves out blocks that turned out to be reachable.  Returns
 * false and changes nothing if there is no memory. */
static bool make_table(unsigned bits)
{
	struct watched *const old = table.entries;
	const size_t old_room = old ? room() : 0;
	struct watched *made;

	if (old && (sizeof(*made) << bits) + old_room * sizeof(*made) > table.memory)
		return false;
	made = leakwrap_scratch_map(sizeof(*made) << bits);
	if (!made)
		return false;
	table.entries = made;
	table.bits = bits;
	table.count = 0;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].block != 0 && !is_reachable(old[i].block)) {
			*find(old[i].block) = old[i];
			table.count++;
		}
	if (old)
		leakwrap_scratch_unmap(old, old_room * sizeof(*old));
	return true;
}

/* Returns whether the table has room for one more block.  A quarter of it stays free, unless memory
 * is short. */
static bool has_room(void)
{
	if (!table.entries)
		return make_table(FIRST_BITS);
	return table.count < room() / 4 * 3 || make_table(table.bits + 1) ||
	       table.count < room() - 1;
}

enum leakwrap_place leakwrap_slabs_add(uintptr_t block, size_t size, uintptr_t word)
{
	/* Words of a large block may have the same number. */
	const uint16_t place = (uint16_t)((word - block) / sizeof(word) % UINT16_MAX + 1);
	struct watched *entry;

	if (size < LEAKWRAP_SLAB_MIN || word % sizeof(word) != 0 || !has_room())
		return LEAKWRAP_PLACE_NOTHING;
	entry = find(block);
	table.count += entry->block == 0;
	entry->block = block;
	for (unsigned i = 0; i < LEAKWRAP_SLAB_PLACES - 1; i++) {
		if (entry->places[i] == place)
			return LEAKWRAP_PLACE_NOTHING;
		if (entry->places[i] == 0) {
			entry->places[i] = place;
			return LEAKWRAP_PLACE_NEW;
		}
	}
	return LEAKWRAP_PLACE_OF_SLAB;
}
