/* release_paths.c - see release_paths.h. */
#include "wrap/live/release_paths.h"

#include <stdbool.h>

/* The array that the linker makes (ld(1), "Source Code Reference").  A program that links no
 * wrapper with paths has none: then the symbols are NULL. */
extern struct leakwrap_release_paths __start_leakwrap_release_paths[]
        __attribute__((weak, visibility("hidden")));
extern struct leakwrap_release_paths __stop_leakwrap_release_paths[]
        __attribute__((weak, visibility("hidden")));

/* Whether a wrapper was widened: blocks may have records. */
static _Atomic bool are_widened;

void leakwrap_release_paths_begin(void)
{
	if (atomic_load(&are_widened))
		return;
	for (struct leakwrap_release_paths *each = __start_leakwrap_release_paths;
	     each != __stop_leakwrap_release_paths; each++)
		atomic_store(&each->now, each->paths[LEAKWRAP_RELEASE_UNRECORDED]);
}

/* Returns whether FUNCTION, one of PATHS, does not find all the records of PATH. */
static bool is_narrower(leakwrap_release_function function,
                        const struct leakwrap_release_paths *paths, enum leakwrap_release_path path)
{
	for (unsigned narrower = 0; narrower < path; narrower++)
		if (function == paths->paths[narrower])
			return true;
	return false;
}

void leakwrap_release_paths_widen(enum leakwrap_release_path path)
{
	atomic_store(&are_widened, true);
	for (struct leakwrap_release_paths *each = __start_leakwrap_release_paths;
	     each != __stop_leakwrap_release_paths; each++) {
		leakwrap_release_function now = atomic_load(&each->now);

		/* Another thread may widen it further meanwhile. */
		while (is_narrower(now, each, path) &&
		       !atomic_compare_exchange_strong(&each->now, &now, each->paths[path]))
			continue;
	}
}
