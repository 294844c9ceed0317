/* stack_cache.c - see stack_cache.h.  Called for a stack that the fast path has not recognized, or
 * has not looked for. */
#include "wrap/site/stack_cache.h"

#include "wrap/arch/arch.h"
#include "wrap/base/options.h"
#include "wrap/base/thread.h"
#include "wrap/live/slot.h"
#include "wrap/module/registry.h"
#include "wrap/site/foreign_stack.h"
#include "wrap/site/seen_stacks.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/site_numbers.h"
#include "wrap/site/stack_index.h"
#include "wrap/site/stack_probe.h"
#include "wrap/site/stack_shape.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/stack_bounds.h"

#include <stdatomic.h>

/* Stacks per call site in the stack index.  The stacks of some call sites always differ
 * (variable-length arrays).  Past this limit nothing more is stored for a call site: its stacks
 * are walked, and its allocations take no lock. */
#define STACKS_MAX 8

LEAKWRAP_TABLE const struct leakwrap_stack_shape *_Atomic
        leakwrap_stack_cache_ways[LEAKWRAP_STACK_CACHE_WAYS][1 << LEAKWRAP_STACK_CACHE_SET_BITS];

/* Stands in a way 0 without a shape: the fast path need not ask whether there is one. */
static const struct leakwrap_stack_shape no_shape = {.extent = UINT32_MAX};

/* Returns the shape in WAY of SET, or NULL.  The load comes after all earlier stores of this thread
 * (copy_to_first). */
static const struct leakwrap_stack_shape *shape_in(unsigned way, uint32_t set)
{
	const struct leakwrap_stack_shape *const shape =
	        atomic_load(&leakwrap_stack_cache_ways[way][set]);

	return shape != &no_shape ? shape : NULL;
}

/* Empties WAY of SET. */
static void empty(unsigned way, uint32_t set)
{
	atomic_store(&leakwrap_stack_cache_ways[way][set], way == 0 ? &no_shape : NULL);
}

/* Whether no shape may be in the cache (leakwrap_stack_cache_pause). */
static _Atomic bool is_paused;

/* Whether a shape was ever inserted.  Before that nothing need be removed, and no page of the cache
 * is read for it. */
static _Atomic bool has_learned;

static _Atomic uint8_t *stack_count_of(uint32_t number)
{
	return &leakwrap_site_chunk(number)->stack_count[number % LEAKWRAP_SITE_CHUNK];
}

/* Set in a count of stacks that was ever more than 0. */
#define WAS_COUNTED 0x80u

static unsigned stacks_of(uint32_t number)
{
	return atomic_load_explicit(stack_count_of(number), memory_order_relaxed) % WAS_COUNTED;
}

static bool has_all_stacks(uint32_t number)
{
	return stacks_of(number) >= STACKS_MAX;
}

/* Counts a stack of the call site NUMBER.  The store is plain: the caller holds the tables' lock,
 * and not every machine has atomic increments of a byte. */
static void count_stack(uint32_t number)
{
	atomic_store_explicit(stack_count_of(number),
	                      (uint8_t)((stacks_of(number) + 1) | WAS_COUNTED),
	                      memory_order_relaxed);
}

bool leakwrap_stack_cache_has_learned(uint32_t number)
{
	return atomic_load_explicit(stack_count_of(number), memory_order_relaxed) != 0;
}

/* Returns what stands for the place of SP on STACK: equal at equal places. */
static uintptr_t place_on(const struct leakwrap_stack *stack, uintptr_t sp)
{
	return stack->is_foreign ? leakwrap_foreign_stack_place(sp) : stack->high - sp;
}

/* -- adding ------------------------------------------------------------------------------------ */

/* Returns whether the walk of TRACE has read words of frames only.  A guess may be wrong.  In code
 * without frame pointers that register may lead anywhere. */
static bool has_read_frames(const struct leakwrap_trace *trace)
{
	return LEAKWRAP_HAVE_RULES && leakwrap_options.unwind == LEAKWRAP_UNWIND_AUTO &&
	       trace->kind != LEAKWRAP_TRACE_GUESSED;
}

/* Returns true if the cache can recognize STACK, whose walk gave TRACE.  The read set must be
 * complete, and the modules must be those of the walk.  TRACE may have fewer frames than the walk
 * found. */
static bool is_cacheable(const struct leakwrap_trace *trace, const struct leakwrap_stack *stack)
{
	const struct leakwrap_read_set *read_set = trace->read_set;

	return read_set && read_set->is_usable && (!stack->is_foreign || has_read_frames(trace)) &&
	       trace->depth <= read_set->return_count + 1u &&
	       read_set->modules == leakwrap_modules();
}

/* Stacks of the first call sites are learned at each walk.  A program with more call sites may
 * never see a stack again, and learning takes the lock.  So the stacks of a later call site are
 * learned at the 2nd, 4th, 8th ... walk that leads to it, and at each 32nd. */
#define LEARN_ALWAYS 4096u
#define LEARN_EVERY  32u

bool leakwrap_stack_cache_learns_at_once(void)
{
	return leakwrap_site_numbers_wanted() < LEARN_ALWAYS &&
	       !atomic_load_explicit(&is_paused, memory_order_relaxed);
}

/* -- threads that meet new stacks for ever ----------------------------------------------------- */

/* A thread has a score of unrecognized stacks.  A stack that the slow path recognizes takes
 * RECOGNIZED from it.  A program may have tens of thousands of stacks, and each must come three
 * times until it is learned.  A thread whose score has come to MANY may never see most of its
 * stacks again: it learns one in LOOK_EVERY of its stacks, and soon they are passed over. */
#define MANY       131072u
#define RECOGNIZED 4u
#define LOOK_EVERY 64u

/* While stacks are passed over, the fast path is closed.  The cache is asked for the first TRIAL
 * stacks, and then for one in LOOK_EVERY, which may be learned.  The score begins again at TRIAL.
 * It falls to 0 if at least one in five of these stacks is recognized.  Then the fast path opens,
 * and the thread must come to twice the score before its stacks are passed over again. */
#define TRIAL        32u
#define GIVEN_UP_MAX 4u

bool leakwrap_stack_cache_choose_to_learn(const struct leakwrap_trace *trace,
                                          const struct leakwrap_stack *stack, uintptr_t sp)
{
	const struct leakwrap_thread *const self = &leakwrap_self;
	const unsigned turn = self->passed_over > 0 ? self->passed_over : self->unrecognized;
	const bool learns_all = self->passed_over == 0 && turn < MANY;

	return (learns_all || turn % LOOK_EVERY == 0) &&
	       !atomic_load_explicit(&is_paused, memory_order_relaxed) &&
	       leakwrap_seen_stacks_add(trace, place_on(stack, sp), turn);
}

/* Counts a stack that was looked for while stacks are passed over. */
static void count_while_passing_over(struct leakwrap_thread *self, bool is_recognized)
{
	self->unrecognized += !is_recognized;
	if (self->unrecognized > 2 * TRIAL)
		self->unrecognized = 2 * TRIAL;
	if (!is_recognized)
		return;
	if (self->unrecognized > RECOGNIZED) {
		self->unrecognized -= RECOGNIZED;
		return;
	}
	self->unrecognized = 0;
	self->passed_over = 0;
	self->given_up += self->given_up < GIVEN_UP_MAX;
	leakwrap_thread_open_fast_path(self);
}

/* Counts a stack that the fast path did not recognize. */
static void count_look(struct leakwrap_thread *self, bool is_recognized)
{
	if (self->passed_over > 0) {
		count_while_passing_over(self, is_recognized);
	} else if (is_recognized) {
		self->unrecognized -=
		        self->unrecognized < RECOGNIZED ? self->unrecognized : RECOGNIZED;
	} else if (++self->unrecognized >= MANY << self->given_up) {
		self->unrecognized = TRIAL;
		self->passed_over = 1;
		self->fast_below = 0;
	}
}

/* Counts the thread's present stack, and returns whether the stack is passed over.  After its
 * largest value the count goes on at LOOK_EVERY: the trial is over. */
static bool pass_over(struct leakwrap_thread *self)
{
	if (self->passed_over == 0)
		return false;
	if (++self->passed_over == 0)
		self->passed_over = LOOK_EVERY;
	return self->passed_over > TRIAL && self->passed_over % LOOK_EVERY != 0;
}

/* -- learning ---------------------------------------------------------------------------------- */

/* Returns whether STACK should be learned at the walk with this COUNT that leads to NUMBER.
 *
 * A call site with STACKS_MAX stacks learns nothing more.  But the cache may have lost what it
 * needs to read a foreign stack that it knows, so it learns such a stack again at times. */
static bool is_due(uint32_t number, uint8_t count, const struct leakwrap_stack *stack)
{
	if (has_all_stacks(number))
		return stack->is_foreign && count % LEARN_EVERY == 0;
	return number < LEARN_ALWAYS || count % LEARN_EVERY == 0 ||
	       (count > 1 && (count & (count - 1)) == 0);
}

/* Returns the count of the walk that leads to NUMBER now.  A count is lost at times: two threads
 * may store at once.  After 255 comes 0. */
static uint8_t next_count(uint32_t number)
{
	const _Atomic uint8_t *const walks = leakwrap_site_walks_or_rest(number);

	return (uint8_t)(atomic_load_explicit(walks, memory_order_relaxed) + 1u);
}

/* A collection may have unlinked NUMBER since the walk came to it.  Then it needs the place of the
 * count.  Either it stores there later, or NUMBER is seen to be unlinked here. */
static void set_count(uint32_t number, uint8_t count)
{
	atomic_store(leakwrap_site_walks_or_rest(number), count);
	if (leakwrap_site_is_unlinked(number))
		atomic_store(leakwrap_site_walks_or_rest(number), LEAKWRAP_SITE_RESTS_ANEW);
}

/* Returns whether a stack of the call site NUMBER may be learned.  That needs a near number. */
static bool has_room(uint32_t number)
{
	if (leakwrap_site_is_far(number) && leakwrap_site_numbers_near_left() == 0)
		return false;
	if (leakwrap_stack_shapes_have_room())
		return true;
	leakwrap_stack_shapes_count_refused();
	return false;
}

bool leakwrap_stack_cache_count_first_walk(uint32_t number, const struct leakwrap_stack *stack)
{
	uint8_t count;

	if (atomic_load_explicit(&is_paused, memory_order_relaxed) ||
	    (has_all_stacks(number) && !stack->is_foreign))
		return false;
	count = next_count(number);
	if (is_due(number, count, stack))
		return has_room(number);
	set_count(number, count);
	return false;
}

bool leakwrap_stack_cache_count_walk(uint32_t number, const struct leakwrap_trace *trace,
                                     const struct leakwrap_stack *stack)
{
	uint8_t count;

	if (atomic_load_explicit(&is_paused, memory_order_relaxed) || !is_cacheable(trace, stack) ||
	    (has_all_stacks(number) && !stack->is_foreign))
		return false;
	count = next_count(number);
	set_count(number, count);
	return is_due(number, count, stack) && has_room(number);
}

/* Returns the way of SET, but not way 0, that has SHAPE.  Else it returns the first way without a
 * shape, else the last way. */
static unsigned way_for(const struct leakwrap_stack_shape *shape, uint32_t set)
{
	unsigned way = LEAKWRAP_STACK_CACHE_WAYS - 1;

	for (unsigned i = LEAKWRAP_STACK_CACHE_WAYS; i-- > 1;) {
		const struct leakwrap_stack_shape *const here = shape_in(i, set);

		if (here == shape)
			return i;
		if (!here)
			way = i;
	}
	return way;
}

/* Inserts SHAPE in way 1 of SET.  The shapes before the way that SHAPE had, or that was empty, move
 * one way back.  If all ways are in use, the last shape falls out.  Way 0 gets a copy, and what it
 * had before is not looked at: it may be a shape that was freed (copy_to_first). */
static void insert_shape(const struct leakwrap_stack_shape *shape, uint32_t set)
{
	const struct leakwrap_stack_shape *moved = shape;
	const unsigned last = way_for(shape, set);

	atomic_store(&has_learned, true);
	for (unsigned way = 1; way <= last; way++)
		moved = atomic_exchange(&leakwrap_stack_cache_ways[way][set], moved);
	atomic_store(&leakwrap_stack_cache_ways[0][set], shape);
}

void leakwrap_stack_cache_learn(uint32_t number, const struct leakwrap_trace *trace,
                                const struct leakwrap_stack *stack)
{
	const uintptr_t sp = trace->read_set ? trace->read_set->sp : 0;
	const uintptr_t place = place_on(stack, sp);
	uint64_t key;
	const struct leakwrap_stack_shape *shape =
	        is_cacheable(trace, stack) ? leakwrap_stack_shape_intern(trace, &key) : NULL;

	if (!shape || atomic_load(&is_paused))
		return;
	if (!has_all_stacks(number) && leakwrap_stack_index_add(key, number))
		count_stack(number);
	if (stack->is_foreign)
		leakwrap_foreign_stack_remember(shape, trace);
	insert_shape(shape, leakwrap_stack_cache_set(place, trace->pcs[0]));
}

void leakwrap_stack_cache_keep_shapes(void)
{
	for (unsigned way = 0; way < LEAKWRAP_STACK_CACHE_WAYS; way++)
		for (unsigned set = 0; set < 1u << LEAKWRAP_STACK_CACHE_SET_BITS; set++) {
			const struct leakwrap_stack_shape *shape = shape_in(way, set);

			if (shape && !leakwrap_stack_shape_keep(shape))
				empty(way, set);
		}
}

void leakwrap_stack_cache_forget(uint32_t number)
{
	if (leakwrap_stack_cache_has_learned(number))
		atomic_store_explicit(stack_count_of(number), WAS_COUNTED, memory_order_relaxed);
}

/* -- flushing and finding ---------------------------------------------------------------------- */

/* A thread may have read a shape before it is removed.  Its stack is from before the modules
 * changed, so the shape still fits.  Empty ways are not written: at the start, writing would page
 * in the whole table. */
void leakwrap_stack_cache_flush(void)
{
	for (unsigned way = 0; atomic_load(&has_learned) && way < LEAKWRAP_STACK_CACHE_WAYS; way++)
		for (unsigned set = 0; set < 1u << LEAKWRAP_STACK_CACHE_SET_BITS; set++) {
			const struct leakwrap_stack_shape *shape = shape_in(way, set);

			if (shape && leakwrap_stack_shape_owners(shape) != 0)
				empty(way, set);
		}
}

void leakwrap_stack_cache_flush_all(void)
{
	for (unsigned way = 0; atomic_load(&has_learned) && way < LEAKWRAP_STACK_CACHE_WAYS; way++)
		for (unsigned set = 0; set < 1u << LEAKWRAP_STACK_CACHE_SET_BITS; set++)
			if (shape_in(way, set))
				empty(way, set);
}

void leakwrap_stack_cache_pause(void)
{
	atomic_store(&is_paused, true);
	leakwrap_stack_cache_flush_all();
}

void leakwrap_stack_cache_resume(void)
{
	for (uint32_t set = 0; set < 1u << LEAKWRAP_STACK_CACHE_SET_BITS; set++)
		if (!atomic_load_explicit(&leakwrap_stack_cache_ways[0][set], memory_order_relaxed))
			atomic_store_explicit(&leakwrap_stack_cache_ways[0][set], &no_shape,
			                      memory_order_relaxed);
	atomic_store(&is_paused, false);
}

/* The complement of the address of the first thread that found a shape behind way 0.  The address
 * itself would lead a search for lost memory to the block that the thread's stack may be. */
static _Atomic uintptr_t first_finder;
/* Whether a second thread found one. */
static _Atomic bool is_shared;

/* Counts a shape that SELF, this thread, found behind way 0.  Returns whether to copy it there. */
static bool is_due_to_copy(struct leakwrap_thread *self)
{
	const uintptr_t finder = ~(uintptr_t)self;
	const uintptr_t first = atomic_load_explicit(&first_finder, memory_order_relaxed);
	unsigned every;

	if (first == 0)
		atomic_store_explicit(&first_finder, finder, memory_order_relaxed);
	else if (first != finder && !atomic_load_explicit(&is_shared, memory_order_relaxed))
		atomic_store_explicit(&is_shared, true, memory_order_relaxed);
	every = atomic_load_explicit(&is_shared, memory_order_relaxed)
	                ? LEAKWRAP_STACK_CACHE_COPY_SHARED
	                : LEAKWRAP_STACK_CACHE_COPY_ALONE;
	return ++self->found_behind % every == 0;
}

/* Copies SHAPE, which was found in another way of SET, to way 0.
 *
 * SHAPE may belong to a module that is being unloaded.  BEFORE are the current modules at the start
 * of the search.  Either leakwrap_stack_cache_flush sees SHAPE in way 0, or the modules here differ
 * from BEFORE.  Likewise leakwrap_stack_cache_pause sees what is stored here, or the cache is
 * paused here.  SWEEPS: as BEFORE, of the sweeps of shapes.  A signal handler may interrupt the
 * thread for so long that SHAPE is freed. */
static void copy_to_first(uint32_t set, const struct leakwrap_stack_shape *shape,
                          const struct leakwrap_modules *before, unsigned sweeps)
{
	atomic_store(&leakwrap_stack_cache_ways[0][set], shape);
	if (atomic_load(&leakwrap_modules_current) != before || atomic_load(&is_paused) ||
	    leakwrap_stack_shapes_sweeps() != sweeps)
		empty(0, set);
}

/* Probes all ways as leakwrap_stack_cache_find does. */
static uint32_t find(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	const uintptr_t room = leakwrap_stack_room(sp);
	const uintptr_t place = room != 0 ? room : leakwrap_foreign_stack_place(sp);
	const uint32_t set = leakwrap_stack_cache_set(place, pc);
	const struct leakwrap_modules *before = leakwrap_modules();
	const unsigned sweeps = leakwrap_stack_shapes_sweeps();
	const struct leakwrap_stack_shape *const first = shape_in(0, set);

	for (unsigned way = 0; way < LEAKWRAP_STACK_CACHE_WAYS; way++) {
		const struct leakwrap_stack_shape *shape = way == 0 ? first : shape_in(way, set);
		uint32_t value;

		if (!shape || (way > 0 && shape == first))
			continue;
		if (!(room != 0 ? leakwrap_stack_shape_has_room(shape, room)
		                : leakwrap_foreign_stack_is_readable(shape, pc, sp, fp)))
			continue;
		value = leakwrap_stack_index_find(leakwrap_stack_shape_any_key(shape, pc, sp, fp));
		if (value != 0) {
			if (way > 0 && is_due_to_copy(&leakwrap_self))
				copy_to_first(set, shape, before, sweeps);
			return leakwrap_slot_site(value);
		}
	}
	return LEAKWRAP_SITE_NONE;
}

/* Stands out of line, so that leakwrap_stack_cache_find saves no registers for a stack that it
 * passes over. */
static __attribute__((noinline)) uint32_t find_and_count(struct leakwrap_thread *self, uintptr_t pc,
                                                         uintptr_t sp, uintptr_t fp)
{
	const uint32_t number = find(pc, sp, fp);

	count_look(self, number != LEAKWRAP_SITE_NONE);
	return number;
}

uint32_t leakwrap_stack_cache_find(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	struct leakwrap_thread *const self = &leakwrap_self;

	return atomic_load_explicit(&is_paused, memory_order_relaxed) || pass_over(self)
	               ? LEAKWRAP_SITE_NONE
	               : find_and_count(self, pc, sp, fp);
}
