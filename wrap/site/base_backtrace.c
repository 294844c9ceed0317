/* base_backtrace.c - see base_backtrace.h. */
#include "wrap/site/base_backtrace.h"

#include "wrap/base/arena.h"
#include "wrap/module/modules.h"
#include "wrap/base/locked_uthash.h"

#include <string.h>

#if UINTPTR_MAX > UINT32_MAX

/* The upper halves that backtraces share. */
struct uppers {
	UT_hash_handle hh; /* by them */
	uint32_t upper[];
};

static struct uppers *uppers_known; /* uthash */

/* Those that WANTED, of SIZE bytes, are equal to, or NULL.  Nearly always it is those that were asked for last. */
static struct uppers *find_uppers(const uint32_t *wanted, size_t size)
{
	static struct uppers *last;

	if (!last || last->hh.keylen != size || memcmp(last->upper, wanted, size) != 0)
		HASH_FIND(hh, uppers_known, wanted, size, last);
	return last;
}

bool leakwrap_high_halves_intern(const struct leakwrap_trace *trace, bool from_reserve,
                                 const uint32_t **uppers)
{
	static uint32_t wanted[LEAKWRAP_MAX_DEPTH];
	const size_t size = trace->depth * sizeof(wanted[0]);
	struct uppers *known;

	for (unsigned i = 0; i < trace->depth; i++)
		wanted[i] = (uint32_t)(trace->pcs[i] >> 32);
	known = find_uppers(wanted, size);
	if (!known) {
		known = leakwrap_arena_take_from(sizeof(*known) + size, from_reserve);
		if (!known)
			return false;
		memcpy(known->upper, wanted, size);
		leakwrap_tables_failed = false;
		HASH_ADD_KEYPTR(hh, uppers_known, known->upper, size, known);
		if (leakwrap_tables_failed)
			return false;
	}
	*uppers = known->upper;
	return true;
}

#else

bool leakwrap_high_halves_intern(const struct leakwrap_trace *trace, bool from_reserve,
                                 const uint32_t **uppers)
{
	(void)trace, (void)from_reserve;
	*uppers = NULL;
	return true;
}

#endif

const struct leakwrap_modules *leakwrap_base_backtrace_modules(const struct leakwrap_trace *trace)
{
	for (unsigned i = 0; i < trace->depth; i++) {
		const struct leakwrap_module *module = leakwrap_module_at(trace->pcs[i] - 1);

		if (module && !module->permanent)
			return leakwrap_modules();
	}
	return NULL;
}

bool leakwrap_base_backtrace_has_modules_of(const struct leakwrap_base_backtrace *kept,
                                            const struct leakwrap_trace *trace)
{
	const struct leakwrap_modules *then = kept->modules, *now = leakwrap_modules();

	for (unsigned i = 0; then && then != now && i < trace->depth; i++)
		if (leakwrap_module_among(then, trace->pcs[i] - 1) !=
		    leakwrap_module_among(now, trace->pcs[i] - 1))
			return false;
	return true;
}

const struct leakwrap_base_backtrace *leakwrap_base_backtrace_make(const struct leakwrap_trace *trace,
                                                                   bool from_reserve)
{
	const uint32_t *uppers;
	struct leakwrap_base_backtrace *kept;

	if (!leakwrap_high_halves_intern(trace, from_reserve, &uppers))
		return NULL;
	kept = leakwrap_arena_take_from(sizeof(*kept) + trace->depth * sizeof(kept->low[0]),
	                                from_reserve);
	if (!kept)
		return NULL;
	kept->depth = (uint16_t)trace->depth;
	kept->kind = (uint8_t)trace->kind;
	kept->modules = leakwrap_base_backtrace_modules(trace);
#if UINTPTR_MAX > UINT32_MAX
	kept->upper = uppers;
#endif
	for (unsigned i = 0; i < trace->depth; i++)
		kept->low[i] = (uint32_t)trace->pcs[i];
	return kept;
}
