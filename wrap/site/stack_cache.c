/* stack_cache.c - learns to recognize stacks; see stack_cache.h.  Called when a stack was not recognized and has been walked. */
#include "wrap/site/stack_cache.h"

#include "wrap/module/modules.h"
#include "wrap/unwind/read_set.h"
#include "wrap/site/site_chunk.h"

/* A call site whose stacks come in ever new forms (variable-length arrays) is left to the walk: nothing more is kept for it, and
 * its allocations take no lock. */
#define FORMS_MAX 8

const struct leakwrap_stack_shape *_Atomic
        leakwrap_stack_cache_ways[LEAKWRAP_STACK_CACHE_WAYS][1 << LEAKWRAP_STACK_CACHE_SET_BITS];

static _Atomic uint8_t *forms_of(uint32_t number)
{
	return &leakwrap_site_chunk(number)->stack_count[number % LEAKWRAP_SITE_CHUNK];
}

/* A plain store: the tables' lock is held, and not every machine changes a byte atomically. */
static void count_form(uint32_t number)
{
	_Atomic uint8_t *forms = forms_of(number);

	atomic_store_explicit(forms, (uint8_t)(atomic_load_explicit(forms, memory_order_relaxed) + 1),
	                      memory_order_relaxed);
}

/* -- learning ------------------------------------------------------------------------------------ */

/* Can a stack be recognized whose walk led to TRACE?  A walk with other modules than now tells nothing. */
static bool is_learnable(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack)
{
	const struct leakwrap_read_set *notes = trace->notes;

	return notes && notes->usable && !stack->foreign && trace->depth == notes->returns + 1u &&
	       notes->modules == leakwrap_modules();
}

bool leakwrap_stack_cache_wants(uint32_t number, const struct leakwrap_trace *trace,
                                const struct leakwrap_stack *stack)
{
	return is_learnable(trace, stack) &&
	       atomic_load_explicit(forms_of(number), memory_order_relaxed) < FORMS_MAX;
}

struct leakwrap_stack_shape *leakwrap_stack_cache_shape(const struct leakwrap_trace *trace,
                                                        const struct leakwrap_stack *stack,
                                                        uint64_t *key)
{
	return is_learnable(trace, stack) ? leakwrap_stack_shape_intern(trace, key) : NULL;
}

/* Puts PATTERN first in SET. */
static void hint_at(const struct leakwrap_stack_shape *pattern, uint32_t set)
{
	const struct leakwrap_stack_shape *moved = pattern;

	for (unsigned way = 0; way < LEAKWRAP_STACK_CACHE_WAYS && moved; way++) {
		moved = atomic_exchange(&leakwrap_stack_cache_ways[way][set], moved);
		if (moved == pattern)
			break;
	}
}

void leakwrap_stack_cache_add(const struct leakwrap_stack_shape *pattern, uint64_t key, uint32_t number,
                              const struct leakwrap_trace *trace, const struct leakwrap_stack *stack)
{
	if (leakwrap_stack_index_add(key, number))
		count_form(number);
	hint_at(pattern, leakwrap_stack_cache_set(stack->high - trace->notes->sp, trace->pcs[0]));
}

/* -- hints --------------------------------------------------------------------------------------- */

/* A thread that still has a pattern out of a hint has a stack of the time before.  What holds no hint is not written to:
 * at the start that would take all of the table into memory. */
void leakwrap_stack_cache_flush(void)
{
	for (unsigned way = 0; way < LEAKWRAP_STACK_CACHE_WAYS; way++)
		for (unsigned set = 0; set < 1u << LEAKWRAP_STACK_CACHE_SET_BITS; set++) {
			const struct leakwrap_stack_shape *pattern =
			        atomic_load(&leakwrap_stack_cache_ways[way][set]);

			if (pattern && !leakwrap_stack_shape_is_permanent(pattern))
				atomic_store(&leakwrap_stack_cache_ways[way][set], NULL);
		}
}

/* PATTERN, which was the hint WAY of SET, is the first one from now on: a program that comes back to a place soon mostly does so with
 * the same stack.  When two threads do this at once, one of the hints may be lost, or stand there twice.  The one that gives way may be of a
 * module that is unloaded meanwhile: either leakwrap_stack_cache_flush finds it, or other modules than BEFORE are found here. */
static void put_first(uint32_t set, unsigned way, const struct leakwrap_stack_shape *pattern,
                      const struct leakwrap_modules *before)
{
	if (way == 0)
		return;
	atomic_store(&leakwrap_stack_cache_ways[way][set],
	             atomic_load_explicit(&leakwrap_stack_cache_ways[0][set], memory_order_acquire));
	if (atomic_load(&leakwrap_modules_current) != before)
		atomic_store(&leakwrap_stack_cache_ways[way][set], NULL);
	atomic_store_explicit(&leakwrap_stack_cache_ways[0][set], pattern, memory_order_release);
}

uint32_t leakwrap_stack_cache_find(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	const uintptr_t room = leakwrap_stack_room(sp);
	uint32_t set = leakwrap_stack_cache_set(room, pc);
	const struct leakwrap_modules *before = leakwrap_modules();

	for (unsigned way = 0; way < LEAKWRAP_STACK_CACHE_WAYS; way++) {
		const struct leakwrap_stack_shape *pattern;
		const uint32_t value = leakwrap_stack_cache_probe(set, way, &pattern, room, pc, sp, fp);

		if (value != 0) {
			put_first(set, way, pattern, before);
			return leakwrap_slot_site(value);
		}
	}
	return LEAKWRAP_SITE_NONE;
}
