/* jemalloc.h - memory of jemalloc that is no root.
 *
 * In memory of its own, jemalloc has a record of each extent: a block from 16 KiB on, a slab that
 * it divides into smaller blocks, or free memory.  The record has the extent's address, which is
 * that of a block.  Some extents are caches, which lead to blocks that jemalloc handed out lately.
 * These are no pointers of the program: with them no large block would ever be lost.
 */
#ifndef LEAKWRAP_JEMALLOC_H
#define LEAKWRAP_JEMALLOC_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the process has jemalloc, under its own name or a usual prefix.  Signal-safe. */
bool leakwrap_has_jemalloc(void);

/* Calls VISIT for the records between START and END, which can be read: once for those that stand
 * side by side.  Calls it for the extent of each record if that is free, wherever it is; with
 * HAS_USED also if it is used.  The blocks have an index (block_index.h). */
void leakwrap_jemalloc_each_part(uintptr_t start, uintptr_t end, bool has_used,
                                 void (*visit)(void *context, uintptr_t start, uintptr_t end),
                                 void *context);

#endif
