/* mark.h - finds which live blocks pointers lead to.
 *
 *   1. leakwrap_mark_start                    builds the index of blocks (block_index.h)
 *   2. leakwrap_mark_range, leakwrap_mark_word  for each root
 *   3. leakwrap_mark_finish                   follows the pointers in blocks, and finds which lost
 *                                             blocks lead to which
 *   4. leakwrap_mark_end
 *
 * Words at their natural alignment count as pointers, and others with the option pointer_step=.
 * So do halves of words in some programs (halves.h).  A pointer to the first byte of a block makes
 * it reachable.  A pointer into it makes it possibly lost, unless one of the reasons of interior.h
 * holds.  What is reached through a possibly lost block alone is possibly lost, too.  The words are
 * valgrind's (memcheck, "Memory leak detection").
 *
 * Nobody may add or remove blocks meanwhile.  One thread at a time.  Signal-safe, takes no lock.
 */
#ifndef LEAKWRAP_MARK_H
#define LEAKWRAP_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/reach/sums.h"

/* Builds the index of all live blocks, and begins to mark.  ORIGINAL: in a copy of a process, that
 * process: the copy ends when the process has ended.  Else 0.  SPARE: see struct leakwrap_scan.
 * Returns false if there is no memory.  After success the caller calls leakwrap_mark_end. */
bool leakwrap_mark_start(int original, uint64_t spare);

/* Ends the marking, and gives its memory back. */
void leakwrap_mark_end(void);

/* Sets *START and *END to the bounds of the variables that hold addresses of blocks. */
void leakwrap_mark_get_bounds(uintptr_t *start, uintptr_t *end);

/* Takes WORD for a word of a root. */
void leakwrap_mark_word(uintptr_t word);

/* Takes the words from START to END, which can be read, for words of a root. */
void leakwrap_mark_range(uintptr_t start, uintptr_t end);

/* Makes the block that holds ADDRESS reachable, and follows its pointers.  Does nothing if there is
 * none. */
void leakwrap_mark_block(uintptr_t address);

/* Follows all pointers, and adds each live block to SUMS, to its kind at its call site.  A block
 * that is lost indirectly counts as LEAKWRAP_OWN_INDIRECT there, and as LEAKWRAP_INDIRECT at the
 * call site of the definitely lost block that leads to it. */
void leakwrap_mark_finish(const struct leakwrap_sums *sums);

#endif
