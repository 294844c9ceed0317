/* stack_shape.h - which stack words a walk depends on, as positions above sp.
 *
 * A walk reads return addresses and links: words that hold stack addresses, such as a saved frame
 * pointer.  It may read one more word, at which it ends (read_set.h).  The positions of all these
 * words are the stack's shape.
 *
 * Take a second stack with equal words at these positions (links relative to sp) and an equal pc.
 * A walk of it would find the same backtrace.  So all stacks of one form share one shape, and a
 * hash of pc, fp and the words identifies the stack (stack_index.h).  The hash is the stack's key.
 * The shape's address is hashed, too, so the keys of two shapes have nothing in common.
 *
 * The positions precede the struct in memory, as uint16_t, in words above sp.  They end where the
 * struct begins, so the fast path needs no register for their end.  A wide shape has positions that
 * do not fit, or that lie on another stack: all of its positions are 32 bits.  The fast path takes
 * some of them for pairs of smaller positions, and finds nothing.
 *
 * The fast path executes leakwrap_stack_shape_key.  It must have few instructions and touch
 * few cache lines.  Then the processor overlaps the cache misses of one allocation with those of
 * the next.  This decides what tracing costs a program with many live blocks.
 *
 * A shape is immutable once published.  A signal handler may read it.  The fast path reads
 * shapes and tells nobody.  So the memory of a removed shape rests for ten seconds or more without
 * a dump before it is used again (leakwrap_stack_shapes_sweep).
 */
#ifndef LEAKWRAP_STACK_SHAPE_H
#define LEAKWRAP_STACK_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/trace.h"
#include "wrap/site/stack_hash.h"

struct leakwrap_stack_shape {
	uint64_t sp_factor;   /* of sp where the hash starts: cancels the sp in the links and fp */
	uint64_t fp_factor;   /* of fp where the hash starts; 0 if the walk did not use fp */
	uint32_t extent;      /* bytes above sp that the positions span; not 0 */
	int16_t minus_count;  /* minus the number of positions: a multiple of
	                       * LEAKWRAP_STACK_HASH_GROUP, not 0 */
	uint8_t return_count; /* how many of the positions hold return addresses */
	uint8_t kind;         /* of the backtraces: enum leakwrap_trace_kind */
};

/* Returns true if all positions of SHAPE lie in the first ROOM bytes above sp.  Only the low 32
 * bits of ROOM are compared: a larger room may count as too small. */
LEAKWRAP_INLINE bool leakwrap_stack_shape_has_room(const struct leakwrap_stack_shape *shape,
                                                   uintptr_t room)
{
	return shape->extent <= (uint32_t)room;
}

/* The positions below this number fit into a shape that is not wide. */
#define LEAKWRAP_STACK_SHAPE_NARROW ((uint32_t)UINT16_MAX + 1)

/* Returns whether SHAPE is wide. */
LEAKWRAP_INLINE bool leakwrap_stack_shape_is_wide(const struct leakwrap_stack_shape *shape)
{
	return LEAKWRAP_STACK_POSITION_MAX >= LEAKWRAP_STACK_SHAPE_NARROW &&
	       shape->extent > LEAKWRAP_STACK_SHAPE_NARROW * sizeof(uintptr_t);
}

/* Returns the number of positions of SHAPE. */
LEAKWRAP_INLINE unsigned leakwrap_stack_shape_count(const struct leakwrap_stack_shape *shape)
{
	return 0u - (unsigned)shape->minus_count;
}

/* Reads the word at POSITION, without the authentication code of a return address.  A link has no
 * such code, so stripping leaves it as it is. */
LEAKWRAP_INLINE uintptr_t leakwrap_stack_shape_word(uintptr_t sp, uint32_t position)
{
	return LEAKWRAP_STRIP_FOR_HASH(leakwrap_stack_word(sp + position * sizeof(uintptr_t)));
}

/* Starts the hash of a stack with SHAPE, PC, SP and FP. */
LEAKWRAP_INLINE struct leakwrap_stack_hash
leakwrap_stack_shape_start(const struct leakwrap_stack_shape *shape, uintptr_t pc, uintptr_t sp,
                           uintptr_t fp)
{
	return leakwrap_stack_hash_start((uintptr_t)shape, pc, fp, shape->fp_factor, sp,
	                                 shape->sp_factor);
}

/* Returns the key of a stack whose words HASH has accumulated. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_shape_end(struct leakwrap_stack_hash hash)
{
	return leakwrap_stack_hash_finalize(leakwrap_stack_hash_combine(hash));
}

/* Returns the key of the stack at PC, SP and FP under SHAPE.  leakwrap_stack_shape_has_room is
 * true. */
LEAKWRAP_INLINE uint64_t leakwrap_stack_shape_key(const struct leakwrap_stack_shape *shape,
                                                  uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	const uint16_t *const end = (const uint16_t *)shape;
	struct leakwrap_stack_hash hash = leakwrap_stack_shape_start(shape, pc, sp, fp);

#if LEAKWRAP_HAVE_INDEXED_OPERANDS
	ptrdiff_t at = shape->minus_count;
#define POSITION(index) end[at + (index)]
#define END             0
#else
	const uint16_t *at = end + shape->minus_count;
#define POSITION(index) at[index]
#define END             end
#endif
	do {
		uint32_t first;

		LEAKWRAP_HIDE_VALUE(at); /* else gcc computes with addresses: more instructions */
		LEAKWRAP_READ_AND_STEP(first, POSITION(0), at, LEAKWRAP_STACK_HASH_GROUP);
		hash = leakwrap_stack_hash_accumulate(
		        hash, leakwrap_stack_shape_word(sp, first),
		        leakwrap_stack_shape_word(sp, POSITION(1 - LEAKWRAP_STACK_HASH_GROUP)),
		        leakwrap_stack_shape_word(sp, POSITION(2 - LEAKWRAP_STACK_HASH_GROUP)),
		        leakwrap_stack_shape_word(sp, POSITION(3 - LEAKWRAP_STACK_HASH_GROUP)));
	} while (at != END);
#undef POSITION
#undef END
	return leakwrap_stack_shape_end(hash);
}

/* Does what leakwrap_stack_shape_key does, for any SHAPE, and for stacks that are not the thread's
 * own.  Signal-safe, takes no lock. */
uint64_t leakwrap_stack_shape_any_key(const struct leakwrap_stack_shape *shape, uintptr_t pc,
                                      uintptr_t sp, uintptr_t fp);

/* For the functions below, the caller holds the tables' lock. */

/* Interns the shape of the stack whose walk gave TRACE and TRACE's read set.  Stores the stack's
 * key in *KEY.  Two walks get one shape if all positions are equal and they go through the same
 * modules, permanent modules aside.  Returns NULL if there is no memory or the walk read no
 * word. */
struct leakwrap_stack_shape *leakwrap_stack_shape_intern(const struct leakwrap_trace *trace,
                                                         uint64_t *key);

/* Returns whether another sweep is due: since the last one many shapes were interned, or many walks
 * found no room for a shape. */
bool leakwrap_stack_shapes_are_many(void);

/* Returns false if no shape can be interned at present: too many were, in too little time.  Takes
 * no lock. */
bool leakwrap_stack_shapes_have_room(void);

/* Counts a walk that found no room for a shape.  Takes no lock.  Signal-safe. */
void leakwrap_stack_shapes_count_refused(void);

/* Makes the next sweep due later: readers prevent it now.  The caller holds the tables' lock. */
void leakwrap_stack_shapes_postpone_sweep(void);

/* To remove shapes: begin, keep each shape that is still in use, and sweep.  The sweep keeps the
 * high halves of each shape that stays (base_backtrace.h).  NOW: leakwrap_site_numbers_quiet_time.
 * Returns true if the caller must remove all keys of the stack index now: later shapes may lie
 * where removed ones lay.
 *
 * leakwrap_stack_shape_keep returns false if an earlier sweep has removed SHAPE.  A thread that
 * stopped on the way has brought it back, and the caller must remove it once more: its rest begins
 * anew. */
void leakwrap_stack_shapes_begin_sweep(void);
bool leakwrap_stack_shape_keep(const struct leakwrap_stack_shape *shape);
bool leakwrap_stack_shapes_sweep(uint32_t now);

/* Returns how many sweeps have begun, modulo 2^32.  Signal-safe, takes no lock. */
unsigned leakwrap_stack_shapes_sweeps(void);

/* Returns a number that stands for the modules of SHAPE that may be unloaded.  No other modules had
 * or will have it.  Returns 0 if stacks with SHAPE go only through modules that are never unloaded.
 * Signal-safe, takes no lock. */
uint64_t leakwrap_stack_shape_owners(const struct leakwrap_stack_shape *shape);

#endif
