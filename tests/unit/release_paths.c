/* release_paths.c - wrappers begin with the path that finds nothing, and are only widened then.
 * Threads that widen them at once make none narrower.
 * sources: wrap/live/release_paths.c */
#include "wrap/live/release_paths.h"

#include <pthread.h>

#include "unit.h"

enum { ROUNDS = 2000 };

static void pass_on(void)
{
}

static void look_for_sample(void)
{
}

static void look_for_any(void)
{
}

#define PATHS                                                  \
	{                                                      \
		look_for_any,                                  \
		{                                              \
			pass_on, look_for_sample, look_for_any \
		}                                              \
	}

static struct leakwrap_release_paths first LEAKWRAP_RELEASE_PATHS_SECTION = PATHS;
static struct leakwrap_release_paths second LEAKWRAP_RELEASE_PATHS_SECTION = PATHS;

/* Returns whether both wrappers go to FUNCTION now. */
static int is_now(leakwrap_release_function function)
{
	return atomic_load(&first.now) == function && atomic_load(&second.now) == function;
}

static void set_both(leakwrap_release_function function)
{
	atomic_store(&first.now, function);
	atomic_store(&second.now, function);
}

static void *widen_to(void *path)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		leakwrap_release_paths_widen(*(const enum leakwrap_release_path *)path);
	return NULL;
}

static void check_order(void)
{
	CHECK(is_now(look_for_any));
	leakwrap_release_paths_begin();
	CHECK(is_now(pass_on));
	leakwrap_release_paths_begin();
	CHECK(is_now(pass_on));
	leakwrap_release_paths_widen(LEAKWRAP_RELEASE_SAMPLED);
	CHECK(is_now(look_for_sample));
	leakwrap_release_paths_begin(); /* a block may have a sample */
	CHECK(is_now(look_for_sample));
	leakwrap_release_paths_widen(LEAKWRAP_RELEASE_ANY);
	CHECK(is_now(look_for_any));
	leakwrap_release_paths_widen(LEAKWRAP_RELEASE_SAMPLED);
	CHECK(is_now(look_for_any));
	set_both(pass_on);
	leakwrap_release_paths_widen(LEAKWRAP_RELEASE_ANY);
	CHECK(is_now(look_for_any));
}

/* Another thread widens them for samples meanwhile. They are narrow again in each round. */
static void check_threads(void)
{
	enum leakwrap_release_path path = LEAKWRAP_RELEASE_SAMPLED;
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, widen_to, &path) == 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		set_both(pass_on);
		leakwrap_release_paths_widen(LEAKWRAP_RELEASE_ANY);
		CHECK(is_now(look_for_any));
	}
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(is_now(look_for_any));
}

int main(void)
{
	check_order();
	check_threads();
	return 0;
}
