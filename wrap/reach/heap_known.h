/* heap_known.h - whether the tracer knows all of the heap. */
#ifndef LEAKWRAP_HEAP_KNOWN_H
#define LEAKWRAP_HEAP_KNOWN_H

#include <stdbool.h>

/* Returns true if every block of the heap is recorded: memory of the heap outside of live blocks is
 * free, and what it holds is of the past.  Returns false if code that is not traced may have blocks
 * of its own, or an allocator may keep pointers between blocks (heap_allocator.h): these count.
 * Signal-safe. */
bool leakwrap_heap_is_known(void);

#endif
