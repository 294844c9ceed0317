/* stack_shape.c - makes shapes from walks; see stack_shape.h.  Called when a call site is new, or
 * when its stack has a new key. */
#include "wrap/site/stack_shape.h"

#include "wrap/base/arena.h"
#include "wrap/base/hash.h"
#include "wrap/site/base_backtrace.h"
#include "wrap/module/registry.h"
#include "wrap/base/locked_uthash.h"

#include <stddef.h>
#include <string.h>

/* Shapes are interned: equal shapes are one object.  What belongs to a shape lies in memory in this
 * order: struct interned, the positions, the shape. */
struct interned {
	UT_hash_handle hh;           /* the key is all from HIGH_HALVES to the end of the shape */
	struct interned *next;       /* the shape that was removed after this one */
	unsigned sweep;              /* the latest sweep that kept it */
	unsigned tick;               /* when it was removed (rest.tick); 0: it was not */
	const uint32_t *high_halves; /* of the return addresses: base_backtrace.h */
	uint64_t owners;             /* owners_of */
};

/* The factor of fp in the hash, if the walk used fp. */
#define FP_FACTOR LEAKWRAP_HASH_FACTOR_XX_MIX

#define KEY       offsetof(struct interned, high_halves)

/* Bytes of the key for POSITIONS bytes of positions. */
#define KEY_SIZE(positions) \
	(sizeof(struct interned) - KEY + (positions) + sizeof(struct leakwrap_stack_shape))

_Static_assert(sizeof(struct leakwrap_stack_shape) == 24, "no padding: memcmp compares shapes");
_Static_assert(sizeof(struct interned) % _Alignof(struct leakwrap_stack_shape) == 0 &&
                       LEAKWRAP_STACK_HASH_GROUP * sizeof(uint16_t) %
                                       _Alignof(struct leakwrap_stack_shape) ==
                               0,
               "a shape is aligned behind its positions");

static struct interned *shapes; /* uthash */

/* The most shapes that there may be: interned and resting. */
#define SHAPES_MAX 65536u

/* A sweep is due after this number of shapes. */
#define SWEEP_AFTER 16384u

/* Or after this number of walks without room for a shape: only sweeps end the rest of shapes. */
#define SWEEP_AFTER_REFUSED 65536u

static struct {
	_Atomic unsigned interned, resting;
	/* Since the latest sweep: interned shapes, and walks that found no room for a shape. */
	_Atomic unsigned since_sweep, refused;
	_Atomic unsigned sweeps;
} count;

/* Hashes the modules of TRACE that may be unloaded, in the order of the frames.  Loading or
 * unloading other modules leaves the hash as it is.  Returns 0 if none may be unloaded.  Returns
 * the serial number of the current snapshot of all modules if TRACE alone does not show which
 * modules the walk depends on. */
static uint64_t owners_of(const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *read_set = trace->read_set;
	const struct leakwrap_module *last = NULL;
	uint64_t hash = 0;

	/* A module may be loaded at the address at which the walk ended. */
	if (read_set->end_position != LEAKWRAP_STACK_POSITION_NONE && read_set->end_word != 0)
		return leakwrap_modules()->serial;
	for (unsigned i = 0; i < trace->depth; i++) {
		const struct leakwrap_module *module = leakwrap_module_at(trace->pcs[i] - 1);

		if (!module)
			return leakwrap_modules()->serial;
		if (module->is_permanent || module == last)
			continue;
		hash = hash * LEAKWRAP_HASH_FACTOR_64 + module->serial;
		last = module;
	}
	return hash;
}

/* -- what a walk read -------------------------------------------------------------------------- */

#define WORDS_MAX (3 * LEAKWRAP_MAX_DEPTH + LEAKWRAP_STACK_HASH_GROUP)

/* The words that a walk depends on.  IS_LINK is 1 for a link, whose value moves with sp, else 0.
 * The last group of LEAKWRAP_STACK_HASH_GROUP is padded. */
struct words {
	unsigned count;
	leakwrap_stack_position position[WORDS_MAX];
	uintptr_t is_link[WORDS_MAX];
};

static void add_word(struct words *words, leakwrap_stack_position position, uintptr_t is_link)
{
	words->position[words->count] = position;
	words->is_link[words->count++] = is_link;
}

static uint32_t bytes_of_words(uint32_t words)
{
	return words * (uint32_t)sizeof(uintptr_t);
}

/* Collects the words that the walk of TRACE depends on: return addresses as they stand on the
 * stack, the word at the end, links.  Pads the last group with copies of the last word. */
static void collect_words(struct words *words, const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *read_set = trace->read_set;

	words->count = 0;
	for (unsigned i = 0; i < read_set->return_count; i++)
		add_word(words, read_set->position[i], 0);
	if (read_set->end_position != LEAKWRAP_STACK_POSITION_NONE)
		add_word(words, read_set->end_position, 0);
	for (unsigned i = 0; i < read_set->link_count; i++)
		add_word(words, read_set->link[i].position,
		         !leakwrap_stack_position_is_own(read_set->link[i].target));
	while (words->count % LEAKWRAP_STACK_HASH_GROUP != 0)
		add_word(words, words->position[words->count - 1],
		         words->is_link[words->count - 1]);
}

/* Returns the factor of sp in the hash of WORDS: the negative sum of the factors of the stack's
 * addresses, which are the links and fp.  FP_MOVES: 1 if fp moves with sp, else 0. */
static uint64_t sp_factor(const struct words *words, uint64_t fp_factor, uintptr_t fp_moves)
{
	const uintptr_t *is_link = words->is_link, *const end = is_link + words->count;
	struct leakwrap_stack_hash hash =
	        leakwrap_stack_hash_start(0, 0, fp_moves, fp_factor, 0, 0);

	for (; is_link != end; is_link += LEAKWRAP_STACK_HASH_GROUP)
		hash = leakwrap_stack_hash_accumulate(hash, is_link[0], is_link[1], is_link[2],
		                                      is_link[3]);
	return leakwrap_stack_hash_before(-leakwrap_stack_hash_combine(hash),
	                                  words->count / LEAKWRAP_STACK_HASH_GROUP);
}

/* Returns the bytes above sp that the positions of WORDS span.  A shape with positions on the
 * thread's own stack is wide. */
static uint32_t extent_of(const struct words *words)
{
	uint32_t extent = 1; /* not 0: leakwrap_stack_shape_has_room is false without room */

	for (unsigned i = 0; i < words->count; i++) {
		const uint32_t last = leakwrap_stack_position_is_own(words->position[i])
		                              ? LEAKWRAP_STACK_SHAPE_NARROW
		                              : words->position[i];

		if (extent < bytes_of_words(last + 1u))
			extent = bytes_of_words(last + 1u);
	}
	return extent;
}

/* Returns the bytes of SHAPE's positions. */
static size_t positions_size(const struct leakwrap_stack_shape *shape)
{
	return leakwrap_stack_shape_count(shape) * (leakwrap_stack_shape_is_wide(shape)
	                                                    ? sizeof(leakwrap_stack_position)
	                                                    : sizeof(uint16_t));
}

/* Stores the positions of WORDS at TO, and SHAPE behind them. */
static void store(void *to, const struct words *words, const struct leakwrap_stack_shape *shape)
{
	uint16_t *const narrow = to;

	if (leakwrap_stack_shape_is_wide(shape))
		memcpy(to, words->position, positions_size(shape));
	else
		for (unsigned i = 0; i < words->count; i++)
			narrow[i] = (uint16_t)words->position[i];
	memcpy((char *)to + positions_size(shape), shape, sizeof(*shape));
}

/* Returns what counts of the word at POSITION.  IS_FOREIGN: the stack of SP is foreign.  Returns 0
 * if the word may not be readable. */
static uintptr_t word_at(uintptr_t sp, leakwrap_stack_position position, bool is_foreign)
{
	if (!is_foreign)
		return leakwrap_stack_shape_word(sp, position);
	if (leakwrap_stack_position_is_own(position) &&
	    leakwrap_stack_position_below_high(position) > leakwrap_self.stack_room)
		return 0;
	return leakwrap_stack_from_high(LEAKWRAP_STRIP_FOR_HASH(
	        leakwrap_stack_word(leakwrap_stack_position_address(position, sp))));
}

/* Does what leakwrap_stack_shape_key does, for a wide SHAPE. */
static uint64_t wide_key(const struct leakwrap_stack_shape *shape, uintptr_t pc, uintptr_t sp,
                         uintptr_t fp)
{
	const leakwrap_stack_position *const end = (const void *)shape;
	const bool is_foreign = leakwrap_stack_room(sp) == 0;
	struct leakwrap_stack_hash hash = leakwrap_stack_shape_start(
	        shape, pc, sp, is_foreign ? leakwrap_stack_from_high(fp) : fp);

	for (const leakwrap_stack_position *position = end - leakwrap_stack_shape_count(shape);
	     position != end; position += LEAKWRAP_STACK_HASH_GROUP)
		hash = leakwrap_stack_hash_accumulate(hash, word_at(sp, position[0], is_foreign),
		                                      word_at(sp, position[1], is_foreign),
		                                      word_at(sp, position[2], is_foreign),
		                                      word_at(sp, position[3], is_foreign));
	return leakwrap_stack_shape_end(hash);
}

uint64_t leakwrap_stack_shape_any_key(const struct leakwrap_stack_shape *shape, uintptr_t pc,
                                      uintptr_t sp, uintptr_t fp)
{
	return leakwrap_stack_shape_is_wide(shape) ? wide_key(shape, pc, sp, fp)
	                                           : leakwrap_stack_shape_key(shape, pc, sp, fp);
}

/* -- shapes ------------------------------------------------------------------------------------ */

/* Adds BY to COUNTER, which only holders of the tables' lock change. */
static void add_to(_Atomic unsigned *counter, unsigned by)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
	                      memory_order_relaxed);
}

/* Returns the shape of INTERNED, behind POSITIONS bytes. */
static struct leakwrap_stack_shape *shape_of(struct interned *interned, size_t positions)
{
	return (struct leakwrap_stack_shape *)((char *)(interned + 1) + positions);
}

/* Returns what belongs to SHAPE. */
static struct interned *interned_of(const struct leakwrap_stack_shape *shape)
{
	return (struct interned *)((uintptr_t)shape - positions_size(shape)) - 1;
}

/* Returns the interned copy of WANTED, which POSITIONS bytes and a shape follow.  Returns NULL if
 * there is no memory. */
static struct interned *intern(const struct interned *wanted, size_t positions)
{
	const size_t size = sizeof(*wanted) + positions + sizeof(struct leakwrap_stack_shape);
	struct interned *found;

	HASH_FIND(hh, shapes, (const char *)wanted + KEY, KEY_SIZE(positions), found);
	if (found)
		return found;
	found = leakwrap_stack_shapes_have_room() ? leakwrap_arena_take(size) : NULL;
	if (!found)
		return NULL;
	memcpy(found, wanted, size);
	leakwrap_tables_failed = false;
	HASH_ADD(hh, shapes, high_halves, KEY_SIZE(positions), found);
	if (leakwrap_tables_failed) {
		leakwrap_arena_give(found, size);
		return NULL;
	}
	add_to(&count.interned, 1);
	add_to(&count.since_sweep, 1);
	return found;
}

/* Returns whether the word at which the walk of READ_SET ended has changed since.  It may lie in no
 * frame of this thread, and then another thread may write to it. */
static bool has_end_changed(const struct leakwrap_read_set *read_set)
{
	uintptr_t end;

	if (read_set->end_position == LEAKWRAP_STACK_POSITION_NONE)
		return false;
	end = leakwrap_stack_word(
	        leakwrap_stack_position_address(read_set->end_position, read_set->sp));
	return LEAKWRAP_STRIP_FOR_HASH(end) != LEAKWRAP_STRIP_FOR_HASH(read_set->end_word);
}

struct leakwrap_stack_shape *leakwrap_stack_shape_intern(const struct leakwrap_trace *trace,
                                                         uint64_t *key)
{
	/* uthash looks up a key that is contiguous in memory. */
	static struct {
		struct interned interned;
		uint32_t position[WORDS_MAX];
		struct leakwrap_stack_shape shape; /* lies further in front, behind the positions */
	} wanted;
	static LEAKWRAP_TABLE struct words words;
	const struct leakwrap_read_set *read_set = trace->read_set;
	const uint64_t fp_factor =
	        read_set->fp_target == LEAKWRAP_STACK_POSITION_NONE ? 0 : FP_FACTOR;
	struct leakwrap_stack_shape shape;
	struct interned *found;

	collect_words(&words, trace);
	if (words.count == 0 ||
	    !leakwrap_high_halves_intern(trace, false, &wanted.interned.high_halves))
		return NULL;
	wanted.interned.owners = owners_of(trace);
	shape = (struct leakwrap_stack_shape){
	        .sp_factor = sp_factor(&words, fp_factor,
	                               !leakwrap_stack_position_is_own(read_set->fp_target)),
	        .fp_factor = fp_factor,
	        .extent = extent_of(&words),
	        .minus_count = (int16_t)(0 - (int)words.count),
	        .return_count = (uint8_t)read_set->return_count,
	        .kind = (uint8_t)trace->kind,
	};
	store(&wanted.interned + 1, &words, &shape);
	found = intern(&wanted.interned, positions_size(&shape));
	if (!found)
		return NULL;
	*key = leakwrap_stack_shape_any_key(
	        shape_of(found, positions_size(&shape)), trace->pcs[0], read_set->sp,
	        leakwrap_stack_position_address(read_set->fp_target, read_set->sp));
	if (has_end_changed(read_set))
		return NULL;
	return shape_of(found, positions_size(&shape));
}

uint64_t leakwrap_stack_shape_owners(const struct leakwrap_stack_shape *shape)
{
	return interned_of(shape)->owners;
}

/* -- removing ---------------------------------------------------------------------------------- */

/* A thread may stop between two instructions of the fast path, in the middle of a shape.  A
 * shape that is removed meanwhile rests until this number of ticks has passed.  A tick takes a
 * second or more in which no dump reads, also when the whole process stands still for a while. */
#define REST_TICKS  10
#define MS_PER_TICK 1000u

/* The removed shapes that rest, oldest first. */
static struct {
	struct interned *first, *last;
	unsigned tick;
	uint32_t tick_began; /* leakwrap_site_numbers_quiet_time */
} rest = {.tick = 1};

bool leakwrap_stack_shapes_are_many(void)
{
	return atomic_load_explicit(&count.since_sweep, memory_order_relaxed) >= SWEEP_AFTER ||
	       atomic_load_explicit(&count.refused, memory_order_relaxed) >= SWEEP_AFTER_REFUSED;
}

void leakwrap_stack_shapes_count_refused(void)
{
	atomic_fetch_add_explicit(&count.refused, 1, memory_order_relaxed);
}

bool leakwrap_stack_shapes_have_room(void)
{
	return atomic_load_explicit(&count.interned, memory_order_relaxed) +
	               atomic_load_explicit(&count.resting, memory_order_relaxed) <
	       SHAPES_MAX;
}

void leakwrap_stack_shapes_postpone_sweep(void)
{
	if (leakwrap_stack_shapes_are_many())
		atomic_store(&count.since_sweep, SWEEP_AFTER / 2);
	atomic_store(&count.refused, 0);
}

/* Appends SHAPE, which was removed, to those that rest. */
static void begin_rest(struct interned *shape)
{
	shape->tick = rest.tick;
	shape->next = NULL;
	if (rest.first)
		rest.last->next = shape;
	else
		rest.first = shape;
	rest.last = shape;
}

/* Gives back the shapes that have rested long enough.  Returns whether there were any.  The latest
 * sweep has found some of them in the cache, and removed them there: they rest once more. */
static bool end_rest(uint32_t now)
{
	bool has_given = false;

	if (now - rest.tick_began >= MS_PER_TICK) {
		rest.tick++;
		rest.tick_began = now;
	}
	while (rest.first && rest.tick - rest.first->tick >= REST_TICKS) {
		struct interned *const shape = rest.first;

		rest.first = shape->next;
		if (shape->sweep == count.sweeps) {
			begin_rest(shape);
			continue;
		}
		add_to(&count.resting, 0u - 1);
		leakwrap_arena_give(shape, KEY + shape->hh.keylen);
		has_given = true;
	}
	return has_given;
}

unsigned leakwrap_stack_shapes_sweeps(void)
{
	return atomic_load(&count.sweeps);
}

void leakwrap_stack_shapes_begin_sweep(void)
{
	atomic_fetch_add(&count.sweeps, 1);
}

bool leakwrap_stack_shape_keep(const struct leakwrap_stack_shape *shape)
{
	struct interned *const interned = interned_of(shape);

	interned->sweep = count.sweeps;
	return interned->tick == 0;
}

bool leakwrap_stack_shapes_sweep(uint32_t now)
{
	const bool has_given = end_rest(now);
	struct interned *shape, *next;

	HASH_ITER(hh, shapes, shape, next)
	{
		if (shape->sweep == count.sweeps) {
			leakwrap_high_halves_keep(shape->high_halves);
		} else {
			HASH_DEL(shapes, shape);
			add_to(&count.resting, 1);
			add_to(&count.interned, 0u - 1);
			begin_rest(shape);
		}
	}
	atomic_store(&count.since_sweep, 0);
	atomic_store(&count.refused, 0);
	return has_given;
}
