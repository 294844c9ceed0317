/* byte_pool.c - see byte_pool.h. */
#include "wrap/base/byte_pool.h"

#include "wrap/base/arena.h"

#include <string.h>

/* The unused rest of the newest chunk. */
static struct {
	uint8_t *next;
	size_t left;
	leakwrap_pool_offset address; /* of NEXT */
} rest;

#if UINTPTR_MAX > UINT32_MAX

const uint8_t **leakwrap_byte_pool_groups[LEAKWRAP_BYTE_CHUNKS / LEAKWRAP_BYTE_CHUNK_GROUP];

/* Assigns an address to the chunk at START.  Returns 0 if all indices are used or memory for a
 * group is short. */
static leakwrap_pool_offset assign_address(const uint8_t *start, bool from_reserve)
{
	static uint32_t next_chunk = 1;
	const uint8_t ***group;

	if (next_chunk == LEAKWRAP_BYTE_CHUNKS)
		return 0;
	group = &leakwrap_byte_pool_groups[next_chunk / LEAKWRAP_BYTE_CHUNK_GROUP];
	if (!*group)
		*group = leakwrap_arena_take_from(LEAKWRAP_BYTE_CHUNK_GROUP * sizeof(**group),
		                                  from_reserve);
	if (!*group)
		return 0;
	(*group)[next_chunk % LEAKWRAP_BYTE_CHUNK_GROUP] = start;
	return next_chunk++ << LEAKWRAP_BYTE_CHUNK_BITS;
}

#else

static leakwrap_pool_offset assign_address(const uint8_t *start, bool from_reserve)
{
	(void)from_reserve;
	return (leakwrap_pool_offset)start;
}

#endif

static bool add_chunk(size_t size, bool from_reserve)
{
	uint8_t *start = leakwrap_arena_take_from(size, from_reserve);
	const leakwrap_pool_offset address = start ? assign_address(start, from_reserve) : 0;

	if (address == 0)
		return false;
	rest.next = start;
	rest.left = size;
	rest.address = address;
	return true;
}

leakwrap_pool_offset leakwrap_byte_pool_add(const uint8_t *from, size_t size, bool from_reserve)
{
	leakwrap_pool_offset address;

	if (size > rest.left && !add_chunk(LEAKWRAP_BYTE_CHUNK, false) &&
	    !(from_reserve && add_chunk(size, true)))
		return 0;
	address = rest.address;
	memcpy(rest.next, from, size);
	rest.next += size;
	rest.left -= size;
	rest.address += (leakwrap_pool_offset)size;
	return address;
}
