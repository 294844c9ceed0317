/* registry.h - the registry of modules: the program and its shared libraries, and where they are
 * mapped.
 *
 * The tracer reads the loader's list at start and after each dlopen and dlclose, and publishes it
 * as an immutable snapshot.  An allocation adds what a shared library has loaded: with glibc by
 * itself, because dl_iterate_phdr takes the loader's lock, with musl by reading the list again
 * (unlisted.c).
 *
 * A call site whose module was unloaded still has its module's name: it holds the snapshot of its
 * time.  A snapshot that nobody holds is freed some time after it was current, and with it the
 * records of modules that no other snapshot lists.  Threads read snapshots and tell nobody, so
 * both rest for ten seconds or more before their memory is used again.
 */
#ifndef LEAKWRAP_REGISTRY_H
#define LEAKWRAP_REGISTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/module/module.h"

/* A snapshot: the modules that were mapped at one time, sorted by address. */
struct leakwrap_modules {
	unsigned count;
	bool are_permanent; /* there are modules, and none is ever unloaded */
	uint64_t serial;    /* differs from that of every other snapshot, freed ones too */
	const struct leakwrap_module *module[];
};

/* The current snapshot.  It is never NULL.  Signal-safe. */
extern LEAKWRAP_HIDDEN const struct leakwrap_modules *_Atomic leakwrap_modules_current;

/* Returns the current snapshot.  Signal-safe. */
static inline const struct leakwrap_modules *leakwrap_modules(void)
{
	return atomic_load_explicit(&leakwrap_modules_current, memory_order_acquire);
}

/* Returns the module of the current snapshot that holds ADDRESS, or NULL.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_at(uintptr_t address);

/* Returns the module of the snapshot MODULES that holds ADDRESS, or NULL.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address);

/* Returns the module of the snapshot MODULES that holds ADDRESS, if it is not loaded any more.
 * Returns NULL if it is loaded, and if MODULES is NULL.  Signal-safe. */
static inline const struct leakwrap_module *
leakwrap_module_gone(const struct leakwrap_modules *modules, uintptr_t address)
{
	const struct leakwrap_module *then = modules && modules != leakwrap_modules()
	                                             ? leakwrap_module_among(modules, address)
	                                             : NULL;

	return then && then != leakwrap_module_at(address) ? then : NULL;
}

/* Returns the module that holds ADDRESS, loaded or not, or NULL.  Of several modules, returns the
 * module of the current snapshot, else the newest record.  Looks at all records if ADDRESS is in no
 * module of the current snapshot.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_ever_at(uintptr_t address);

/* Returns the number of changes of the snapshot, and of what else is known as code.  Data derived
 * under another number is stale.  Signal-safe. */
unsigned leakwrap_modules_generation(void);

/* -- changes ----------------------------------------------------------------------------------- */

/* Reads the loader's list and publishes a new snapshot if it has changed.  Takes the loader's lock
 * and the tables' lock: never call it in an allocation, in a signal handler or in a dump.
 * Preserves errno. */
void leakwrap_modules_refresh(void);

#ifndef LEAKWRAP_BARE
/* Refreshes like leakwrap_modules_refresh after the program has loaded a module with RTLD_DEEPBIND:
 * the calls of the new modules are bound to the C library's malloc. */
void leakwrap_modules_refresh_deepbind(void);

/* Returns true if modules have been loaded or unloaded since the last refresh: by a shared library,
 * whose calls are not wrapped.  Takes the loader's lock. */
bool leakwrap_modules_are_stale(void);

/* Adds FOUND, a loaded module, to the current snapshot, in the place of modules that were where it
 * is.  Returns false if there is no memory.  The caller holds the tables' lock. */
bool leakwrap_modules_add(struct leakwrap_module *found);

/* Sets the function that each change of the current snapshot calls, after it.  It is called with
 * the tables' lock held, so signals are blocked.  The runtime sets it once at its start, before it
 * reads the loader's list.  Earlier changes call nothing: no call site exists yet. */
void leakwrap_modules_set_change_hook(void (*on_change)(void));

/* Keeps MODULES, the current snapshot or one that is held, until it is released as often.  The
 * caller holds the tables' lock. */
void leakwrap_modules_hold(const struct leakwrap_modules *modules);
void leakwrap_modules_release(const struct leakwrap_modules *modules);

/* Returns whether the snapshots that are held are too many, so that their holders should be looked
 * through.  If so, starts to count anew.  Takes no lock. */
bool leakwrap_modules_claim_sweep(void);

/* Begins a new generation: memory outside of modules has become known as code.  Signal-safe. */
void leakwrap_modules_begin_generation(void);
#endif

#endif
