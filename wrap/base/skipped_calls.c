/* skipped_calls.c - see skipped_calls.h. */
#include "wrap/base/skipped_calls.h"

/* The array that the linker makes (ld(1), "Source Code Reference").  A program that links no such
 * wrapper has none: then the symbols are NULL. */
extern struct leakwrap_skipped_call __start_leakwrap_skipped_calls[]
        __attribute__((weak, visibility("hidden")));
extern struct leakwrap_skipped_call __stop_leakwrap_skipped_calls[]
        __attribute__((weak, visibility("hidden")));

void leakwrap_skipped_calls_pass(bool leaves)
{
	for (struct leakwrap_skipped_call *each = __start_leakwrap_skipped_calls;
	     each != __stop_leakwrap_skipped_calls; each++) {
		const leakwrap_function original = each->original();

		if (original && (leaves || !each->is_leaf))
			atomic_store(&each->next, original);
	}
}

void leakwrap_skipped_calls_look(void)
{
	for (struct leakwrap_skipped_call *each = __start_leakwrap_skipped_calls;
	     each != __stop_leakwrap_skipped_calls; each++)
		atomic_store(&each->next, each->look);
}
