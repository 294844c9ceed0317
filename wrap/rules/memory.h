/* memory.h - the memory of the process that is searched for lost blocks.
 *
 * The runtime searches its own process, and the tool a core file.  What lies in memory, and who has
 * put it there, is the same for both.  So both read by these functions, and share the headers that
 * know what may lie there: interior_rules.h and what it includes, glibc_rules.h,
 * jemalloc_record.h, stack_remains.h.
 */
#ifndef LEAKWRAP_MEMORY_H
#define LEAKWRAP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"

/* A word of the searched process, or an address in it.  The tool defines LEAKWRAP_OTHER_PROCESS: it
 * may search a process whose words are larger than its own. */
#ifdef LEAKWRAP_OTHER_PROCESS
typedef uint64_t leakwrap_word;
#else
typedef uintptr_t leakwrap_word;
#endif

/* How the memory is read, and what is known of the process.  The functions get CONTEXT. */
struct leakwrap_memory {
	/* Returns the number in the SIZE bytes at ADDRESS: 1, 2, 4 or 8.  They can be read, or the
	 * function returns 0. */
	uint64_t (*load)(const void *context, leakwrap_word address, unsigned size);

	/* Returns whether SIZE bytes at ADDRESS can be read.  Returns false if they reach over the
	 * end of the address space, so a rule may ask for any difference of addresses. */
	bool (*is_readable)(const void *context, leakwrap_word address, leakwrap_word size);
	bool (*is_code)(const void *context, leakwrap_word address);

	/* Returns whether ADDRESS is in a module, in what may be constant data. */
	bool (*is_constant)(const void *context, leakwrap_word address);

	/* Finds the smallest live block that holds ADDRESS.  Returns false if there is none.  NULL
	 * where no rule asks. */
	bool (*find_block)(const void *context, leakwrap_word address, leakwrap_word *block,
	                   leakwrap_word *size);

	/* Finds the smallest live block that begins at ADDRESS, in less time than FIND_BLOCK. */
	bool (*find_start)(const void *context, leakwrap_word address, leakwrap_word *size);
	const void *context;

	leakwrap_word word;    /* the size of a word: 4 or 8 bytes */
	unsigned cookie_words; /* in front of an array's elements (array_rules.h) */
	bool has_sse2;         /* each processor of its kind has */
	bool is_glibc;
	bool has_system; /* an operating system */
};

/* Returns the word at ADDRESS. */
LEAKWRAP_INLINE leakwrap_word leakwrap_word_at(const struct leakwrap_memory *memory,
                                               leakwrap_word address)
{
	return (leakwrap_word)memory->load(memory->context, address, (unsigned)memory->word);
}

/* Fetches the memory at ADDRESS into the processor's caches, if it is this process'. */
LEAKWRAP_INLINE void leakwrap_fetch(leakwrap_word address)
{
#ifdef LEAKWRAP_OTHER_PROCESS
	(void)address;
#else
	__builtin_prefetch((const void *)address);
#endif
}

/* Returns whether NUMBER is a multiple of SIZE, which is a power of two. */
LEAKWRAP_INLINE bool leakwrap_is_multiple(leakwrap_word number, leakwrap_word size)
{
	return (number & (size - 1)) == 0;
}

/* Returns whether ADDRESS is aligned and not 0, and the COUNT words there can be read. */
LEAKWRAP_INLINE bool leakwrap_leads_to_words(const struct leakwrap_memory *memory,
                                             leakwrap_word address, unsigned count)
{
	return address != 0 && leakwrap_is_multiple(address, memory->word) &&
	       memory->is_readable(memory->context, address, count * memory->word);
}

#endif
