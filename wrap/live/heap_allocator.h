/* heap_allocator.h - which allocator the program's malloc is.
 *
 * Each answer is the same for the whole life of the process.  All functions are signal-safe.
 */
#ifndef LEAKWRAP_HEAP_ALLOCATOR_H
#define LEAKWRAP_HEAP_ALLOCATOR_H

#include <stdbool.h>

/* Returns whether the program's malloc is certainly the C library's, whichever that is. */
bool leakwrap_heap_is_libc(void);

/* Returns whether the program's malloc is certainly glibc's. */
bool leakwrap_heap_is_glibc(void);

/* Returns whether memory between live blocks certainly holds no pointers that count: the program's
 * malloc is the C library's or another that is known to keep none there.  A malloc on top of
 * another one may keep pointers to blocks of its own in a header in front of each block.  It may
 * also take memory from the malloc below it that the tracer does not see. */
bool leakwrap_heap_has_plain_gaps(void);

/* Returns whether jemalloc is part of the program itself, not a shared library. */
bool leakwrap_heap_program_has_jemalloc(void);

/* Returns whether calloc and realloc certainly call no wrapped function: they are glibc's. */
bool leakwrap_heap_has_leaves(void);

/* Returns whether all heap blocks are certainly at least four words apart.  That holds for glibc's
 * malloc, unless the user named another allocator as well. */
bool leakwrap_heap_min_block_is_4_words(void);

#endif
