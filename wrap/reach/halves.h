/* halves.h - pointers in a part of a word of 64 bits.
 *
 * A pointer may have other data in the bits that no address needs (LEAKWRAP_ADDRESS_BITS): a number
 * that changes when the pointer does (boost/lockfree/detail/tagged_ptr_ptrcompression.hpp), or the
 * type of a value of a script.  The lower bits of a word count as a pointer if they are the address
 * of a block's first byte.  A number is such an address once in 2^47 times for each block.
 *
 * A word may hold two pointers of 32 bits.  Where the heap lies below 4 GiB, as in a program that
 * is not position-independent, code may keep a pointer in 32 bits.  GLib's hash tables do, as long
 * as all their keys fit.  So a half of a word counts as a pointer there on two conditions.  The
 * word leads to no block, and the half is the address of a block's first byte, a multiple of 8.  An
 * integer may be such an address by chance, as in a program with words of 32 bits.  One into a
 * block counts for nothing: those would be many.
 */
#ifndef LEAKWRAP_HALVES_H
#define LEAKWRAP_HALVES_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"

#if UINTPTR_MAX > UINT32_MAX

/* All blocks below 4 GiB begin less than this number of bytes behind the first block.  0: there are
 * none.  It is no address, which would keep its block reachable. */
extern LEAKWRAP_HIDDEN uintptr_t leakwrap_halves_size;

/* Sets leakwrap_halves_size.  The index of blocks (block_index.h) has been built. */
void leakwrap_halves_start(void);

/* Calls TAKE for each half from START to END that counts as a pointer, with the address of its
 * word.  The memory can be read. */
void leakwrap_halves_scan(uintptr_t start, uintptr_t end,
                          void (*take)(uintptr_t half, uintptr_t place));

/* Returns whether ADDRESS, which stands in a part of a word, is that of a block's first byte. */
bool leakwrap_is_first_byte(uintptr_t address);

/* Returns whether halves may count as pointers. */
LEAKWRAP_INLINE bool leakwrap_has_halves(void)
{
	return leakwrap_halves_size != 0;
}

#else

LEAKWRAP_INLINE bool leakwrap_is_first_byte(uintptr_t address)
{
	(void)address;
	return false;
}

LEAKWRAP_INLINE void leakwrap_halves_start(void)
{
}

LEAKWRAP_INLINE bool leakwrap_has_halves(void)
{
	return false;
}

LEAKWRAP_INLINE void leakwrap_halves_scan(uintptr_t start, uintptr_t end,
                                          void (*take)(uintptr_t half, uintptr_t place))
{
	(void)start, (void)end, (void)take;
}

#endif

#endif
