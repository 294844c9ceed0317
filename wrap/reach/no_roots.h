/* no_roots.h - memory that the program may have written to, and in which pointers keep no block
 * reachable:
 *
 *   - the tracer's tables, its variables with addresses of blocks, and what it keeps of threads
 *   - of a thread's stack the part below its stack pointer
 *   - stacks of threads that have ended, but for the C library's description of the thread
 *     (ended_stacks.h)
 *   - what the allocator knows of its blocks: the state of glibc's malloc, jemalloc's records
 *   - the allocator's memory, if the tracer knows all of the heap (heap_known.h)
 *
 * Live blocks are no roots either: the live table knows them.  One scan at a time.
 */
#ifndef LEAKWRAP_NO_ROOTS_H
#define LEAKWRAP_NO_ROOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/reach/park.h"

struct leakwrap_no_root {
	uintptr_t start, end;
};

/* Finds the memory that is no root.  OWN: the calling thread.  PAGEMAP: of leakwrap_pagemap_open.
 * IS_HEAP_KNOWN, HAVE_ALL_PARKED: see leakwrap_roots_mark.  The mappings have been read (maps.h).
 * Returns false if there is no memory. */
bool leakwrap_no_roots_find(const struct leakwrap_standing *own, int pagemap, bool is_heap_known,
                            bool have_all_parked);

/* Returns the ranges that were found, in the order of their addresses, and sets *COUNT to their
 * number.  No two of them touch.  They are this module's until leakwrap_no_roots_release. */
const struct leakwrap_no_root *leakwrap_no_roots(size_t *count);

/* Gives back what leakwrap_no_roots_find took, if it took anything. */
void leakwrap_no_roots_release(void);

/* Calls VISIT with CONTEXT for the tracer's variables that hold addresses of blocks.  Signal-safe,
 * takes no lock. */
void leakwrap_no_roots_each_own(void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                void *context);

#endif
