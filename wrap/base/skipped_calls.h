/* skipped_calls.h - what a wrapper calls for a new block that its thread has counted and skips
 * (leakwrap_count_down): the original, while no thread can sample by older settings.
 *
 * From the first switch of the settings to the second, a thread that counts down samples by the
 * present ones.  So there is nothing to look at, and the wrapper jumps to the original.  After the
 * second switch a thread may not have followed yet, and the wrapper jumps to a function that looks.
 */
#ifndef LEAKWRAP_SKIPPED_CALLS_H
#define LEAKWRAP_SKIPPED_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "wrap/base/common.h"

typedef void (*leakwrap_function)(void);

/* The functions of one wrapper.  Their true types are the wrapper's. */
struct leakwrap_skipped_call {
	leakwrap_function _Atomic next; /* the original, or LOOK */
	leakwrap_function look;
	leakwrap_function (*original)(void); /* returns the original, or NULL: LOOK is needed */
	bool is_leaf;                        /* calloc or realloc, not malloc */
};

/* On the definition of a wrapper's functions: the linker puts all of them into one array. */
#define LEAKWRAP_SKIPPED_CALLS_SECTION __attribute__((section("leakwrap_skipped_calls")))

/* Makes the wrappers jump to the originals.  If LEAVES is false, those of calloc and realloc look.
 * No thread counts down. */
void leakwrap_skipped_calls_pass(bool leaves);

/* Makes the wrappers look at the settings, for good.  Called before the settings change. */
void leakwrap_skipped_calls_look(void);

#endif
