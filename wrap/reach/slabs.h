/* slabs.h - blocks that the program hands out in parts: its own allocators do.
 *
 * The program may have no pointer to the first byte of such a block, but many into it.  A block of
 * at least LEAKWRAP_SLAB_MIN bytes is a slab if pointers in reachable memory lead to
 * LEAKWRAP_SLAB_PLACES different words of it. */
#ifndef LEAKWRAP_SLABS_H
#define LEAKWRAP_SLABS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAKWRAP_SLAB_MIN    (24 * sizeof(uintptr_t))
#define LEAKWRAP_SLAB_PLACES 4u

/* Begins with no places known.  Their memory may grow to 512 KiB, and to MEMORY bytes. */
void leakwrap_slabs_start(uint64_t memory);

/* Gives back the memory of the places. */
void leakwrap_slabs_end(void);

/* What a place in a block tells. */
enum leakwrap_place {
	LEAKWRAP_PLACE_NOTHING, /* it was noted before, or cannot be noted */
	LEAKWRAP_PLACE_NEW,
	LEAKWRAP_PLACE_OF_SLAB, /* pointers lead to so many places that the block is a slab */
};

/* Notes that WORD, read from a root or a reachable block, leads into the block of SIZE bytes at
 * BLOCK.  Without memory to note it in, the place tells nothing.  Each block that is watched takes
 * 21 to 43 bytes. */
enum leakwrap_place leakwrap_slabs_add(uintptr_t block, size_t size, uintptr_t word);

#endif
