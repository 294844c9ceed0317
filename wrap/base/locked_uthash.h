/* locked_uthash.h - set-up of the uthash tables: of regions, exact blocks, stack shapes, base
 * backtraces, modules and snapshots.  They share one lock, take memory from the arena, and report a
 * failure instead of ending the program.
 *
 * Included by the files that have such a table, and by files that need only the lock.  uthash is
 * called with the lock held, on the slow paths.  The fast path and the dump never call it.
 */
#ifndef LEAKWRAP_LOCKED_UTHASH_H
#define LEAKWRAP_LOCKED_UTHASH_H

#include <stdbool.h>

#include "wrap/base/arena.h"
#include "wrap/port/port.h"

extern struct leakwrap_lock leakwrap_tables_lock;

/* Set by uthash if an addition failed and was undone.  Clear it before each addition. */
extern bool leakwrap_tables_failed;

#define uthash_malloc(size)         leakwrap_arena_take(size)
#define uthash_free(pointer, size)  leakwrap_arena_give(pointer, size)
#define HASH_NONFATAL_OOM           1
#define uthash_nonfatal_oom(record) (leakwrap_tables_failed = true)

#include <uthash.h>

#endif
