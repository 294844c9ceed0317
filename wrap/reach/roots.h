/* roots.h - the memory in which pointers keep blocks reachable: all that is neither the heap nor
 * the tracer's own.
 *
 *   - memory that the program may have written to: data of modules, anonymous and shared memory;
 *     not large files that are mapped shared
 *   - of a thread's stack the part above its stack pointer; of the stack of a thread that has
 *     ended the C library's description of it (ended_stacks.h)
 *   - the registers that the kernel saved when the thread parked, and the address of the thread's
 *     alternate stack
 *   - thread-local storage, also where it lies beside the heap
 *   - the ranges of leakwrap_root()
 *
 * Memory of the heap outside of live blocks is a root unless the tracer knows all of the heap
 * (heap_known.h): another library's blocks may hold the only pointer to a block.
 */
#ifndef LEAKWRAP_ROOTS_H
#define LEAKWRAP_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/reach/park.h"

/* Marks from all roots (mark.h).  OWN: the calling thread.  IS_HEAP_KNOWN: memory of the heap
 * outside of live blocks is no root.  HAVE_ALL_PARKED: no other thread runs; else the stacks of
 * ended threads count as roots, because a running thread's may be among them.  The mappings have
 * been read (maps.h).  Returns false if there is no memory. */
bool leakwrap_roots_mark(const struct leakwrap_standing *own, bool is_heap_known,
                         bool have_all_parked);

/* Gives back what leakwrap_roots_mark took, also if it was left by longjmp. */
void leakwrap_roots_release(void);

#endif
