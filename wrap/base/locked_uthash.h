/* locked_uthash.h - what the uthash tables (regions, exact blocks, patterns) share: one lock, memory from
 * the arena, and failure that is told instead of ending the program.
 *
 * Included by live.c, base_backtrace.c and stack_shape.c, and by those that need the lock alone.  uthash is entered with the lock held, on the
 * paths that meet something new; the allocation path and the dump never see it. */
#ifndef LEAKWRAP_LOCKED_UTHASH_H
#define LEAKWRAP_LOCKED_UTHASH_H

#include <stdbool.h>

#include "wrap/base/arena.h"
#include "wrap/port/port.h"

extern struct leakwrap_lock leakwrap_tables_lock;

/* Set by uthash when an addition failed and was undone; cleared by whoever adds. */
extern bool leakwrap_tables_failed;

#define uthash_malloc(size) leakwrap_arena_take(size)
/* Only outgrown bucket arrays come back, each half the size of the next: the arena keeps them. */
#define uthash_free(pointer, size)  ((void)(pointer))
#define HASH_NONFATAL_OOM           1
#define uthash_nonfatal_oom(record) (leakwrap_tables_failed = true)

#include <uthash.h>

#endif
