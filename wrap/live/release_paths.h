/* release_paths.h - how far a wrapper that frees a block looks for the block's record.
 *
 * While all blocks are recorded, it looks into the live table.  A program that samples from its
 * start has no block there, and one that does not record has no block anywhere.  Most of what the
 * wrapper did would find nothing.  So each such wrapper has a function for each case, and jumps to
 * the one that is right now:
 *
 *    __wrap_free ──► paths.now ──┬──► of any record: the live table, then the samples
 *                                ├──► of a sample alone: the filter of the samples
 *                                └──► of no record: the original
 *
 * At the start a wrapper looks for any record.  Where an instruction jumps to the address in a
 * variable (LEAKWRAP_HAVE_MEMORY_JUMP), this costs one instruction.  Elsewhere it would cost four,
 * and no wrapper has paths.  Everything here is signal-safe and takes no lock.
 */
#ifndef LEAKWRAP_RELEASE_PATHS_H
#define LEAKWRAP_RELEASE_PATHS_H

#include <stdatomic.h>

#include "wrap/base/common.h"

/* Which records there may be, in this order: a path finds what those before it find. */
enum leakwrap_release_path {
	LEAKWRAP_RELEASE_UNRECORDED,
	LEAKWRAP_RELEASE_SAMPLED,
	LEAKWRAP_RELEASE_ANY,
	LEAKWRAP_RELEASE_PATHS,
};

typedef void (*leakwrap_release_function)(void);

/* The paths of one wrapper.  Their true types are the wrapper's. */
struct leakwrap_release_paths {
	leakwrap_release_function _Atomic now; /* one of PATHS */
	leakwrap_release_function paths[LEAKWRAP_RELEASE_PATHS];
};

/* On the definition of a wrapper's paths: the linker puts all of them into one array. */
#define LEAKWRAP_RELEASE_PATHS_SECTION __attribute__((section("leakwrap_release_paths")))

/* Makes the wrappers pass on all blocks.  Changes nothing if a block has a record.  Called at the
 * start, before any thread records, if not all blocks will be recorded. */
void leakwrap_release_paths_begin(void);

/* Makes the wrappers find the records of PATH, too.  Called before the first such record is seen by
 * a thread that may free the block. */
void leakwrap_release_paths_widen(enum leakwrap_release_path path);

#endif
