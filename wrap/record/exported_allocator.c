/* exported_allocator.c - see exported_allocator.h. */
#include "wrap/record/exported_allocator.h"

#include "wrap/base/common.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/loader_list.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/record/library_calls.h"
#include "wrap/runtime/runtime.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void end_without_original(const char *name)
{
	static const char start[] = "leakwrap: no shared library of this program has ";
	static const char end[] = ", which the link exports; link the allocator's library with "
	                          "-Wl,--no-as-needed\n";

	leakwrap_write(2, start, sizeof(start) - 1);
	leakwrap_write(2, name, strlen(name));
	leakwrap_write(2, end, sizeof(end) - 1);
	abort();
}

/* The context of visit_module. */
struct search {
	const char *name;
	uintptr_t exported, found;
};

static void visit_module(void *context, const struct leakwrap_module *module)
{
	struct search *search = context;

	if (search->found == 0 && search->exported - module->start >= module->end - module->start)
		search->found = leakwrap_dynamic_find(module, search->name);
}

/* Returns whether the library that has the function at ADDRESS is never unloaded. */
static bool is_permanent(uintptr_t address)
{
	const struct leakwrap_module *module;

	leakwrap_runtime_start();
	module = leakwrap_module_at(address);
	return module && module->is_permanent;
}

/* Finds the original of FUNCTION, whose former original is BEFORE, or 0.  Each thread that looks
 * meanwhile finds the same. */
static uintptr_t find_original(struct leakwrap_exported_function *function, uintptr_t before)
{
	struct search search = {function->name, function->exported, 0};
	uintptr_t original = function->real, changes = 0;

	if (function->real == function->exported) {
		changes = leakwrap_loader_list_changes();
		leakwrap_loader_list_visit(visit_module, &search);
		original = search.found != 0 ? search.found : before;
		if (original == 0)
			end_without_original(function->name);
		if (is_permanent(original))
			changes = 0;
	}
	atomic_store_explicit(&function->original, original, memory_order_relaxed);
	atomic_store_explicit(&function->changes, changes, memory_order_release);
	return original;
}

uintptr_t leakwrap_exported_original(struct leakwrap_exported_function *function)
{
	const uintptr_t changes = atomic_load_explicit(&function->changes, memory_order_acquire);
	const uintptr_t original = atomic_load_explicit(&function->original, memory_order_relaxed);

	if (leakwrap_likely(original != 0) &&
	    (leakwrap_likely(changes == 0) || changes == leakwrap_loader_list_changes()))
		return original;
	return find_original(function, original);
}

bool leakwrap_begin_exported_call(const void *block)
{
	return leakwrap_likely(leakwrap_libraries_are_recorded) || leakwrap_begin_library_calls() ||
	       leakwrap_is_recorded(block);
}
