/* foreign_stack.c - see foreign_stack.h. */
#include "wrap/site/foreign_stack.h"

#include "wrap/base/hash.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/stack_bounds.h"

#include <stdatomic.h>

/* The table has one word for each hash.  High bits of a hash choose the place; the word holds the
 * low bits. */
#define TABLE_BITS 15

static _Atomic uintptr_t *_Atomic table; /* NULL: nothing was remembered yet */

/* A search of a stack for the next word in a page that is not known to be readable. */
struct search {
	const struct leakwrap_stack_shape *shape;
	uintptr_t sp;
	uintptr_t read;  /* all words of SHAPE below this address are in SUM */
	uintptr_t limit; /* all memory from SP up to this address can be read */
	uint64_t sum;
};

static leakwrap_stack_position position_of(const struct leakwrap_stack_shape *shape, unsigned i)
{
	return leakwrap_stack_shape_is_wide(shape)
	               ? ((const leakwrap_stack_position *)shape)[shape->minus_count + (int)i]
	               : ((const uint16_t *)shape)[shape->minus_count + (int)i];
}

static uintptr_t end_of_page(uintptr_t address)
{
	return (address & ~(uintptr_t)(LEAKWRAP_PAGE - 1)) + LEAKWRAP_PAGE;
}

/* Returns WORD, or its distance from SP if it points into this stack.  If it points into the
 * thread's own stack, returns its distance from that stack's end. */
static uintptr_t relative(const struct leakwrap_stack_shape *shape, uintptr_t sp, uintptr_t word)
{
	return word - sp < shape->extent ? word - sp : leakwrap_stack_from_high(word);
}

/* Begins a search of the stack at PC, SP and FP. */
static struct search begin(const struct leakwrap_stack_shape *shape, uintptr_t pc, uintptr_t sp,
                           uintptr_t fp)
{
	/* Of a wide shape, fp may point to the thread's own stack. */
	const bool is_wide = leakwrap_stack_shape_is_wide(shape);

	return (struct search){
	        .shape = shape,
	        .sp = sp,
	        .read = sp,
	        .limit = end_of_page(sp - 1),
	        .sum = leakwrap_stack_shape_owners(shape) + pc * LEAKWRAP_HASH_FACTOR_64 +
	               (is_wide ? relative(shape, sp, fp) : fp - sp) * shape->fp_factor,
	};
}

/* Adds the readable words to the sum, in the order of the shape.  A word that points into the stack
 * counts relative to sp.  Words on the thread's own stack are left out.  Returns the address of the
 * lowest word that lies above, or 0 if there is none. */
static uintptr_t find_next(struct search *search)
{
	const uintptr_t sp = search->sp, read = search->read, limit = search->limit;
	const uintptr_t extent = search->shape->extent;
	const unsigned count = leakwrap_stack_shape_count(search->shape);
	uintptr_t next = UINTPTR_MAX;
	uint64_t sum = search->sum;

	if (extent <= limit - sp)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		const leakwrap_stack_position position = position_of(search->shape, i);
		const uintptr_t at = sp + position * sizeof(uintptr_t);
		uintptr_t word;

		if (leakwrap_stack_position_is_own(position))
			continue;
		if (at >= limit) {
			next = at < next ? at : next;
		} else if (at >= read) {
			word = relative(search->shape, sp,
			                LEAKWRAP_STRIP_FOR_HASH(leakwrap_stack_word(at)));
			sum = (sum + word) * LEAKWRAP_HASH_FACTOR_64 + position;
		}
	}
	search->sum = sum;
	search->read = limit;
	return next != UINTPTR_MAX ? next : 0;
}

/* Returns the hash for the step from the words of SEARCH to the word at NEXT. */
static uint64_t hash_of_step(const struct search *search, uintptr_t next)
{
	const uint64_t sum = search->sum + (next - search->sp) * LEAKWRAP_HASH_FACTOR_MURMUR;

	return (sum ^ sum >> 32) * LEAKWRAP_HASH_FACTOR_64;
}

static _Atomic uintptr_t *place_of(_Atomic uintptr_t *words, uint64_t hash)
{
	return &words[hash >> (64 - TABLE_BITS)];
}

/* Goes on behind the word at NEXT, which can be read. */
static void go_on(struct search *search, uintptr_t next)
{
	search->limit = end_of_page(next);
}

bool leakwrap_foreign_stack_is_readable(const struct leakwrap_stack_shape *shape, uintptr_t pc,
                                        uintptr_t sp, uintptr_t fp)
{
	struct search search;
	_Atomic uintptr_t *words;

	/* With 32-bit addresses a word above a stack at the end of memory might lie below it. */
	if (sp % sizeof(uintptr_t) != 0 || shape->extent > UINTPTR_MAX - sp)
		return false;
	if (shape->extent <= end_of_page(sp - 1) - sp)
		return true;
	words = atomic_load_explicit(&table, memory_order_acquire);
	if (!words)
		return false;
	search = begin(shape, pc, sp, fp);
	for (uintptr_t next = find_next(&search); next != 0; next = find_next(&search)) {
		const uint64_t hash = hash_of_step(&search, next);

		if (atomic_load_explicit(place_of(words, hash), memory_order_relaxed) !=
		    (uintptr_t)hash)
			return false;
		go_on(&search, next);
	}
	return true;
}

/* Returns the table; maps it at the first use.  Returns NULL if there is no memory. */
static _Atomic uintptr_t *find_table(void)
{
	const size_t size = sizeof(uintptr_t) << TABLE_BITS;
	_Atomic uintptr_t *words = atomic_load(&table), *mapped;

	if (words)
		return words;
	mapped = leakwrap_pages_map_sparse(size, true);
	if (!mapped || atomic_compare_exchange_strong(&table, &words, mapped))
		return mapped;
	leakwrap_pages_unmap(mapped, size);
	return words;
}

void leakwrap_foreign_stack_remember(const struct leakwrap_stack_shape *shape,
                                     const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *read_set = trace->read_set;
	const uintptr_t fp = leakwrap_stack_position_address(read_set->fp_target, read_set->sp);
	struct search search = begin(shape, trace->pcs[0], read_set->sp, fp);
	_Atomic uintptr_t *const words = find_table();
	uintptr_t end = 0;

	/* Garbage may have led to a last word that is no return address. */
	if (read_set->end_position != LEAKWRAP_STACK_POSITION_NONE && read_set->end_word != 0)
		end = leakwrap_stack_position_address(read_set->end_position, read_set->sp);
	if (!words)
		return;
	for (uintptr_t next = find_next(&search); next != 0 && next != end;
	     next = find_next(&search)) {
		const uint64_t hash = hash_of_step(&search, next);

		atomic_store_explicit(place_of(words, hash), (uintptr_t)hash, memory_order_relaxed);
		go_on(&search, next);
	}
}
