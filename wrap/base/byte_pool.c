/* byte_pool.c - see byte_pool.h. */
#include "wrap/base/byte_pool.h"

#include "wrap/base/arena.h"

#include <string.h>

/* What is left of the last piece. */
static struct {
	uint8_t *next;
	size_t left;
	leakwrap_pool_offset address; /* of NEXT */
} rest;

#if UINTPTR_MAX > UINT32_MAX

const uint8_t **leakwrap_byte_pool_groups[LEAKWRAP_BYTE_CHUNKS / LEAKWRAP_BYTE_CHUNK_GROUP];

/* Gives the piece at START an address; 0 when there are too many, or no memory for that. */
static leakwrap_pool_offset address_for(const uint8_t *start, bool from_reserve)
{
	static uint32_t pieces = 1;
	const uint8_t ***group;

	if (pieces == LEAKWRAP_BYTE_CHUNKS)
		return 0;
	group = &leakwrap_byte_pool_groups[pieces / LEAKWRAP_BYTE_CHUNK_GROUP];
	if (!*group)
		*group = leakwrap_arena_take_from(LEAKWRAP_BYTE_CHUNK_GROUP * sizeof(**group),
		                                  from_reserve);
	if (!*group)
		return 0;
	(*group)[pieces % LEAKWRAP_BYTE_CHUNK_GROUP] = start;
	return pieces++ << LEAKWRAP_BYTE_CHUNK_BITS;
}

#else

static leakwrap_pool_offset address_for(const uint8_t *start, bool from_reserve)
{
	(void)from_reserve;
	return (leakwrap_pool_offset)start;
}

#endif

static bool new_piece(size_t size, bool from_reserve)
{
	uint8_t *start = leakwrap_arena_take_from(size, from_reserve);
	const leakwrap_pool_offset address = start ? address_for(start, from_reserve) : 0;

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

	if (size > rest.left && !new_piece(LEAKWRAP_BYTE_CHUNK, false) &&
	    !(from_reserve && new_piece(size, true)))
		return 0;
	address = rest.address;
	memcpy(rest.next, from, size);
	rest.next += size;
	rest.left -= size;
	rest.address += (leakwrap_pool_offset)size;
	return address;
}
