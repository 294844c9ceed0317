/* pointee.h - the live block to which a word leads: the one that holds the address, or one that is
 * held by this address, its end.
 *
 * new T[0] returns the end of a block that has a cookie alone.  libtalloc's talloc_new() and Mesa's
 * ralloc_context() return that of a block that has a header alone (interior.h, end_rules.h).  The
 * address is the first byte of no other block in most allocators.  Where it is, the word leads to
 * that block.
 */
#ifndef LEAKWRAP_POINTEE_H
#define LEAKWRAP_POINTEE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/live/block_index.h"
#include "wrap/reach/interior.h"

/* Finds the block to which WORD leads, an address in the region IN; NULL: in none.  WORD stands at
 * PLACE; 0: in a register.  Returns false if there is none.  Asks IS_READABLE before it reads
 * memory. */
bool leakwrap_pointee_find(const struct leakwrap_indexed_region *in, uintptr_t word,
                           uintptr_t place, struct leakwrap_indexed_block *found,
                           leakwrap_is_readable *is_readable);

#endif
