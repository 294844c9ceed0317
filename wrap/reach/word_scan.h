/* word_scan.h - reads memory for words that may lead to live blocks.
 *
 * Words count at their natural alignment, and at other addresses with the option pointer_step=.
 * Parts of words count in some programs (halves.h).  What cannot be read is left out: the program
 * may have protected a part of a block, or given it back to the system.  So are the pages of a
 * large block that were never written to.
 *
 * Signal-safe, takes no lock.
 */
#ifndef LEAKWRAP_WORD_SCAN_H
#define LEAKWRAP_WORD_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/reach/halves.h"

/* It holds addresses of mappings, some of which are addresses of blocks. */
struct leakwrap_word_scan {
	/* Gets each word that may lead to a block, and the address where it stands. */
	void (*take)(uintptr_t word, uintptr_t place);
	unsigned step;         /* of the option pointer_step= */
	uintptr_t scanned_end; /* with it: where the last scan ended */
	int pagemap;
	uintptr_t readable_start, readable_end; /* the last readable memory that was looked up */
	/* Memory among the blocks that holds none: the heap of a program and mappings lie far
	 * apart.  Otherwise many numbers would seem to have the address of a block in their lower
	 * bits. */
	uintptr_t gap_start, gap_size;
};

/* Returns WORD without the bits of a pointer that are no part of the address. */
static inline uintptr_t leakwrap_untagged(uintptr_t word)
{
#ifdef LEAKWRAP_UNTAG
	return LEAKWRAP_UNTAG(word);
#else
	return word;
#endif
}

/* Returns the address that the pointer WORD has if it has other data in the bits above. */
static inline uintptr_t leakwrap_lower_address(uintptr_t word)
{
#ifdef LEAKWRAP_ADDRESS_BITS
	return word & (((uintptr_t)1 << LEAKWRAP_ADDRESS_BITS) - 1);
#else
	return leakwrap_untagged(word);
#endif
}

/* Returns whether WORD may be a pointer to its lower address, which lies among blocks. */
static inline bool leakwrap_may_be_pointer(uintptr_t word)
{
	const uintptr_t address = leakwrap_lower_address(word);

	return leakwrap_likely(leakwrap_untagged(word) == address) ||
	       leakwrap_is_first_byte(address);
}

/* Starts SCAN, with the index of blocks and the mappings as they are.  TAKE gets each word that may
 * lead to a block.  The caller calls leakwrap_word_scan_end. */
void leakwrap_word_scan_start(struct leakwrap_word_scan *scan,
                              void (*take)(uintptr_t word, uintptr_t place));

void leakwrap_word_scan_end(struct leakwrap_word_scan *scan);

/* Scans the memory from START to END, which can be read. */
void leakwrap_word_scan_range(struct leakwrap_word_scan *scan, uintptr_t start, uintptr_t end);

/* Scans what can be read of a block of SIZE bytes at ADDRESS. */
void leakwrap_word_scan_block(struct leakwrap_word_scan *scan, uintptr_t address, size_t size);

/* Returns whether SIZE bytes at ADDRESS are in the readable memory that was looked up last. */
static inline bool leakwrap_word_scan_has_looked_at(const struct leakwrap_word_scan *scan,
                                                    uintptr_t address, size_t size)
{
	return address >= scan->readable_start && address + size <= scan->readable_end;
}

/* Returns whether SIZE bytes at ADDRESS, which may be any word, can be read. */
bool leakwrap_word_scan_can_read(struct leakwrap_word_scan *scan, uintptr_t address, size_t size);

#endif
