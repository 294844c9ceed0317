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

/* So many blocks are watched.  It is a power of two. */
#define LEAKWRAP_SLABS_MAX ((size_t)1 << 14)

/* The bytes that leakwrap_slabs_start needs. */
#define LEAKWRAP_SLABS_SIZE (LEAKWRAP_SLABS_MAX * LEAKWRAP_SLAB_PLACES * sizeof(uintptr_t))

/* Begins with no places known.  MEMORY: LEAKWRAP_SLABS_SIZE bytes, all 0, which stay the
 * caller's. */
void leakwrap_slabs_start(void *memory);

/* Notes that WORD, read from a root or a reachable block, leads into the block of SIZE bytes at
 * BLOCK.  Returns whether the block is a slab.  If too many blocks are watched, it is none. */
bool leakwrap_slabs_add(uintptr_t block, size_t size, uintptr_t word);

#endif
