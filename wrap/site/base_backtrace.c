/* base_backtrace.c - see base_backtrace.h. */
#include "wrap/site/base_backtrace.h"

#include "wrap/base/arena.h"
#include "wrap/module/registry.h"
#include "wrap/base/locked_uthash.h"

#include <string.h>

#if UINTPTR_MAX > UINT32_MAX

/* The high halves of a backtrace's return addresses.  Backtraces with equal high halves share
 * it. */
struct leakwrap_high_halves {
	UT_hash_handle hh;                 /* the key is HALF */
	unsigned sweep;                    /* the last sweep that kept it */
	struct leakwrap_high_halves *next; /* removed with it */
	uint32_t half[];
};

static struct leakwrap_high_halves *interned_high_halves; /* uthash */
static struct leakwrap_high_halves *latest;               /* the list that was wanted last */
static unsigned sweep;                                    /* number of the latest sweep */

/* Returns the interned copy of WANTED, which has SIZE bytes, or NULL.  Most calls want the list
 * that the call before wanted, so that list is compared first. */
static struct leakwrap_high_halves *find_high_halves(const uint32_t *wanted, size_t size)
{
	if (!latest || latest->hh.keylen != size || memcmp(latest->half, wanted, size) != 0)
		HASH_FIND(hh, interned_high_halves, wanted, size, latest);
	return latest;
}

bool leakwrap_high_halves_intern(const struct leakwrap_trace *trace, bool from_reserve,
                                 const uint32_t **high_halves)
{
	static uint32_t wanted[LEAKWRAP_MAX_DEPTH];
	const size_t size = trace->depth * sizeof(wanted[0]);
	struct leakwrap_high_halves *found;

	for (unsigned i = 0; i < trace->depth; i++)
		wanted[i] = (uint32_t)(trace->pcs[i] >> 32);
	found = find_high_halves(wanted, size);
	if (!found) {
		found = leakwrap_arena_take_from(sizeof(*found) + size, from_reserve);
		if (!found)
			return false;
		memcpy(found->half, wanted, size);
		found->sweep = sweep;
		leakwrap_tables_failed = false;
		HASH_ADD_KEYPTR(hh, interned_high_halves, found->half, size, found);
		if (leakwrap_tables_failed) {
			leakwrap_arena_give(found, sizeof(*found) + size);
			return false;
		}
	}
	*high_halves = found->half;
	return true;
}

void leakwrap_high_halves_begin_sweep(void)
{
	sweep++;
}

void leakwrap_high_halves_keep(const uint32_t *high_halves)
{
	if (high_halves)
		((struct leakwrap_high_halves *)((uintptr_t)high_halves -
		                                 offsetof(struct leakwrap_high_halves, half)))
		        ->sweep = sweep;
}

struct leakwrap_high_halves *leakwrap_high_halves_sweep(void)
{
	struct leakwrap_high_halves *list, *next, *removed = NULL;

	HASH_ITER(hh, interned_high_halves, list, next)
	{
		if (list->sweep == sweep)
			continue;
		HASH_DEL(interned_high_halves, list);
		list->next = removed;
		removed = list;
	}
	latest = NULL;
	return removed;
}

void leakwrap_high_halves_give(struct leakwrap_high_halves *removed)
{
	for (struct leakwrap_high_halves *next; removed; removed = next) {
		next = removed->next;
		leakwrap_arena_give(removed, sizeof(*removed) + removed->hh.keylen);
	}
}

#else

bool leakwrap_high_halves_intern(const struct leakwrap_trace *trace, bool from_reserve,
                                 const uint32_t **high_halves)
{
	(void)trace, (void)from_reserve;
	*high_halves = NULL;
	return true;
}

void leakwrap_high_halves_begin_sweep(void)
{
}

void leakwrap_high_halves_keep(const uint32_t *high_halves)
{
	(void)high_halves;
}

struct leakwrap_high_halves *leakwrap_high_halves_sweep(void)
{
	return NULL;
}

void leakwrap_high_halves_give(struct leakwrap_high_halves *removed)
{
	(void)removed;
}

#endif

const struct leakwrap_modules *leakwrap_base_backtrace_modules(const struct leakwrap_trace *trace)
{
	if (leakwrap_modules()->are_permanent)
		return NULL;
	for (unsigned i = 0; i < trace->depth; i++) {
		const struct leakwrap_module *module = leakwrap_module_at(trace->pcs[i] - 1);

		if (module && !module->is_permanent)
			return leakwrap_modules();
	}
	return NULL;
}

bool leakwrap_base_backtrace_has_modules_of(const struct leakwrap_base_backtrace *base,
                                            const struct leakwrap_trace *trace)
{
	const struct leakwrap_modules *then = base->modules, *now = leakwrap_modules();

	for (unsigned i = 0; then && then != now && i < trace->depth; i++)
		if (leakwrap_module_among(then, trace->pcs[i] - 1) !=
		    leakwrap_module_among(now, trace->pcs[i] - 1))
			return false;
	return true;
}

struct leakwrap_base_backtrace *leakwrap_base_backtrace_make(const struct leakwrap_trace *trace,
                                                             bool from_reserve)
{
	const uint32_t *high_halves;
	struct leakwrap_base_backtrace *base;

	if (!leakwrap_high_halves_intern(trace, from_reserve, &high_halves))
		return NULL;
	base = leakwrap_arena_take_from(sizeof(*base) + trace->depth * sizeof(base->low_halves[0]),
	                                from_reserve);
	if (!base)
		return NULL;
	base->depth = (uint16_t)trace->depth;
	base->kind = (uint8_t)trace->kind;
	base->modules = leakwrap_base_backtrace_modules(trace);
	if (base->modules)
		leakwrap_modules_hold(base->modules);
#if UINTPTR_MAX > UINT32_MAX
	base->high_halves = high_halves;
#endif
	for (unsigned i = 0; i < trace->depth; i++)
		base->low_halves[i] = (uint32_t)trace->pcs[i];
	return base;
}

void leakwrap_base_backtrace_free(struct leakwrap_base_backtrace *base)
{
	if (base->modules)
		leakwrap_modules_release(base->modules);
	leakwrap_arena_give(base, sizeof(*base) + base->depth * sizeof(base->low_halves[0]));
}

void leakwrap_base_backtrace_keep_high_halves(const struct leakwrap_base_backtrace *base)
{
#if UINTPTR_MAX > UINT32_MAX
	leakwrap_high_halves_keep(base->high_halves);
#else
	(void)base;
#endif
}
