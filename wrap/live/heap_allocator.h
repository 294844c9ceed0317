/* heap_allocator.h - whose allocator is it, and how far do its blocks lie apart? */
#ifndef LEAKWRAP_HEAP_ALLOCATOR_H
#define LEAKWRAP_HEAP_ALLOCATOR_H

#include <stdbool.h>

/* Is the program's malloc certainly the C library's?  The answer is always the same.  Signal-safe. */
bool leakwrap_heap_is_libc(void);

/* Is the program's malloc certainly glibc's?  The answer is always the same.  Signal-safe. */
bool leakwrap_allocator_is_glibc(void);

/* Is the program's malloc glibc's, whose blocks are never closer than four words?  The answer is always the same.
 * Signal-safe. */
bool leakwrap_heap_min_block_is_4_words(void);

#endif
