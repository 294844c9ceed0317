/* aligned.h - blocks that are cut out of larger blocks, to be aligned. */
#ifndef LEAKWRAP_ALIGNED_H
#define LEAKWRAP_ALIGNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An aligned block may be cut out of a larger block that an inner call allocated.  The larger block
 * starts less than this number of bytes before the aligned block. */
#define LEAKWRAP_ALIGNED_OFFSET_MAX 65536

/* Returns whether BLOCK lies in the SIZE bytes at MEMORY, behind their first byte. */
static inline bool leakwrap_is_cut_out_of(uintptr_t block, uintptr_t memory, size_t size)
{
	return block > memory && block - memory < size;
}

#endif
