/* inner_block.h - what an inner call has recorded of the block that an outer call records.
 *
 * Wrapped functions call each other: operator new calls malloc in a static program, and memalign
 * may cut its block out of a larger one.  The outer call takes over what the inner call recorded.
 *
 * All functions may run in signal handlers. */
#ifndef LEAKWRAP_INNER_BLOCK_H
#define LEAKWRAP_INNER_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "wrap/misuse/misuse.h"

/* Removes the record of an inner call's block if that block is not BLOCK, and the two lie one
 * inside the other.  BLOCK, of SIZE bytes, may be cut out of it, or a resize may have added it to
 * BLOCK (newlib's realloc).  Removes the sample of an inner call's block also if that is BLOCK.  If
 * BLOCK, of FAMILY, is behind a header of an operator new, notes that memory is hidden. */
void leakwrap_absorb_inner(const void *block, size_t size, enum leakwrap_family family);

#ifndef LEAKWRAP_BARE

/* Counts BLOCK of SIZE bytes among what the call site SITE has allocated so far, and takes an inner
 * call's part of it off.  For the option allocated=, before BLOCK is recorded. */
void leakwrap_count_allocation(const void *block, size_t size, uint32_t site);

#else

static inline void leakwrap_count_allocation(const void *block, size_t size, uint32_t site)
{
	(void)block, (void)size, (void)site;
}

#endif

#endif
