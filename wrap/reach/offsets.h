/* offsets.h - the blocks that a block holds by the distances to them (offset_rules.h). */
#ifndef LEAKWRAP_OFFSETS_H
#define LEAKWRAP_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/reach/is_readable.h"
#include "wrap/rules/offset_rules.h"
#include "wrap/reach/process_memory.h"

/* The size of blocks that may hold others so. */
#define LEAKWRAP_OFFSETS_SIZE (8 + 2 * sizeof(uintptr_t))

/* Returns whether the block of that size at ADDRESS, which can be read, may hold others so.  Few
 * blocks may: mark.c asks for each block of that size. */
static inline bool leakwrap_may_have_offsets(uintptr_t address)
{
	return leakwrap_is_offsets_count(leakwrap_process_load(NULL, address + 4, 4));
}

/* Returns whether the block of SIZE bytes at ADDRESS, whose first 8 bytes can be read, may hold
 * others by the distances between elements.  mark.c asks for each block. */
static inline bool leakwrap_may_have_elements(uintptr_t address, size_t size)
{
	return leakwrap_process_load(NULL, address, 8) == size;
}

/* Calls TAKE for each block that the block of LEAKWRAP_OFFSETS_SIZE bytes at ADDRESS holds so, with
 * the place where the distance stands.  Asks IS_READABLE before it reads more. */
void leakwrap_offsets_take(uintptr_t address, void (*take)(uintptr_t word, uintptr_t place),
                           leakwrap_is_readable *is_readable);

/* Does the same for a block of SIZE bytes, of which leakwrap_may_have_elements is true. */
void leakwrap_offsets_take_elements(uintptr_t address, size_t size,
                                    void (*take)(uintptr_t word, uintptr_t place),
                                    leakwrap_is_readable *is_readable);

#endif
