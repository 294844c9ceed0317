/* unlisted.c - see unlisted.h.
 *
 * An allocation meets such a module.  So the loader's lock must not be taken: another thread may
 * hold it and wait for the allocating thread.  glibc finds the module of an address without a lock
 * since version 2.35.  Older versions do not; the module is listed when the program calls dlopen
 * or dlclose.  While the program's dlopen runs constructors, its thread has the loader's lock
 * already.  musl holds its lock only while nothing outside of its loader runs.  uClibc-ng lets its
 * list be read without the lock. */
#include "wrap/module/unlisted.h"

#include "wrap/base/c_library.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/module/loader_list.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"

#include <errno.h>
#include <stdatomic.h>

#ifdef LEAKWRAP_GLIBC

/* struct dl_find_object and struct link_map of glibc's <dlfcn.h> and <link.h>, as far as they are
 * used.  Older versions of these headers lack the first. */
struct link_map_begin {
	uintptr_t bias;
	const char *path;
};

struct found_object {
	unsigned long long flags;
	uintptr_t start, end;
	const struct link_map_begin *map;
	unsigned long long rest[16]; /* more than any version writes */
};

/* A module for which there is no memory stays unlisted, and each allocation in it would try again.
 * After a failure this many tries are left out. */
#define TRIES_LEFT_OUT 10000

static _Atomic int to_leave_out;

/* The calls of dlopen that the thread is in, and whether one of them has RTLD_DEEPBIND. */
static _Thread_local struct {
	unsigned depth;
	bool binds_deep;
} loading;

static void refresh(void)
{
	if (loading.binds_deep)
		leakwrap_modules_refresh_deepbind();
	else
		leakwrap_modules_refresh();
}

void leakwrap_modules_begin_load(bool binds_deep)
{
	loading.depth++;
	loading.binds_deep |= binds_deep;
}

void leakwrap_modules_end_load(void)
{
	refresh();
	if (--loading.depth == 0)
		loading.binds_deep = false;
}

/* Lists the module that holds ADDRESS.  Returns false if there is none or no memory for it. */
static bool list_module(uintptr_t address)
{
	struct found_object object = {0};
	struct leakwrap_module module;
	bool is_listed;

	if (atomic_load_explicit(&to_leave_out, memory_order_relaxed) > 0) {
		atomic_fetch_sub_explicit(&to_leave_out, 1, memory_order_relaxed);
		return false;
	}
	if (!leakwrap_originals.find_object) {
		if (loading.depth == 0 || !leakwrap_modules_are_stale())
			return false;
		refresh();
		return leakwrap_module_at(address) != NULL;
	}
	if (leakwrap_originals.find_object((void *)address, &object) != 0 || !object.map ||
	    !leakwrap_module_read(&module, object.start, object.map->bias, object.map->path))
		return false;
	leakwrap_lock(&leakwrap_tables_lock);
	is_listed = leakwrap_modules_add(&module);
	leakwrap_unlock(&leakwrap_tables_lock);
	if (!is_listed)
		atomic_store_explicit(&to_leave_out, TRIES_LEFT_OUT, memory_order_relaxed);
	return is_listed;
}

#else

void leakwrap_modules_begin_load(bool binds_deep)
{
	(void)binds_deep;
}

void leakwrap_modules_end_load(void)
{
	leakwrap_modules_refresh();
}

static bool list_module(uintptr_t address)
{
	if (!leakwrap_modules_are_stale())
		return false;
	leakwrap_modules_refresh();
	return leakwrap_module_at(address) != NULL;
}

#endif

bool leakwrap_modules_list_unseen(uintptr_t address)
{
	const struct leakwrap_module *module = leakwrap_module_at(address);
	const int saved = errno;
	bool is_listed;

	if (module && (module->is_permanent || leakwrap_module_is_there(module)))
		return false;
	is_listed = list_module(address);
	errno = saved;
	return is_listed;
}

bool leakwrap_modules_list_callers(const uintptr_t *pcs, unsigned count)
{
	const struct leakwrap_module *last = NULL;
	bool are_listed = false;

	for (unsigned i = 0; i < count; i++) {
		const struct leakwrap_module *const module = leakwrap_module_at(pcs[i] - 1);

		if (!module || module != last)
			are_listed |= leakwrap_modules_list_unseen(pcs[i] - 1);
		last = module;
	}
	return are_listed;
}
