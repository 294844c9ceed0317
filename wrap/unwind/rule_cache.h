/* rule_cache.h - unwind rules: how to get from a frame to its caller, and where they are remembered.
 *
 * A rule belongs to a return address.  With the frame's sp and fp it says where the frame ends (the CFA:
 * the caller's sp), and where the return address and the caller's fp were stored.  Finding one costs a
 * search in tables; the rule cache remembers it for every thread under the return address.
 *
 * The cache is direct-mapped and indexed by the low bits of the return address.  A slot is one machine
 * word that holds the rest of the address as a tag and the rule itself, so one relaxed load reads a whole
 * rule, one relaxed store replaces it, and threads and signal handlers need no lock.  Rules that do not
 * fit into a slot, a few hundred in a program, stand in a second, append-only table, and the slot holds
 * their number there.
 *
 * All of it may run in signal handlers.
 */
#ifndef LEAKWRAP_RULE_CACHE_H
#define LEAKWRAP_RULE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"

enum leakwrap_rule_kind {
	LEAKWRAP_RULE_NONE,     /* nothing is known about the frame */
	LEAKWRAP_RULE_FRAME,    /* the CFA is base + cfa */
	LEAKWRAP_RULE_INDIRECT, /* the CFA is the word at base + cfa, plus add */
	LEAKWRAP_RULE_SIGNAL, /* the kernel's: the words at sp + cfa, + ra, + fp are sp, pc and fp, that at
	                         * sp + add is lr, where there is such a register */
	LEAKWRAP_RULE_END,    /* the first frame of a thread: it has no caller */
	LEAKWRAP_RULE_FP_FALLBACK, /* no table: the frame pointer, if it verifies */

	LEAKWRAP_RULE_KINDS = 0x1f,
	/* Beside the kind, for a rule that was found on one stack: */
	LEAKWRAP_RULE_CFA_LOW = 0x20, /* the caller's sp may lie above the CFA */
	LEAKWRAP_RULE_GUESSED = 0x40, /* nothing but that stack speaks for it */
	LEAKWRAP_RULE_TO_TEST = 0x80, /* another stack need not bear it out */
};

enum leakwrap_rule_base {
	LEAKWRAP_BASE_SP,
	LEAKWRAP_BASE_FP,
	LEAKWRAP_BASE_R7, /* ARM: the frame pointer of Thumb code; fp is r11 */
};

/* Where a register of the caller is. */
enum leakwrap_saved_where {
	LEAKWRAP_SAVED_IN_REGISTER, /* still in the register */
	LEAKWRAP_SAVED_AT_CFA,      /* in the word at CFA + offset */
	LEAKWRAP_SAVED_AT_BASE,     /* in the word at base + offset */
	LEAKWRAP_SAVED_NOWHERE,     /* nowhere that a rule can name */
};

/* A rule.  Offsets are in bytes.  No padding: rules are compared as memory. */
struct leakwrap_rule {
	uint8_t kind;     /* enum leakwrap_rule_kind */
	uint8_t base;     /* enum leakwrap_rule_base */
	uint8_t ra_place; /* enum leakwrap_saved_where */
	uint8_t fp_place;
	int32_t cfa;
	int32_t add;
	int32_t ra;
	int32_t fp;
#if LEAKWRAP_HAVE_ARM_FRAMES
	int32_t r7_place; /* enum leakwrap_saved_where */
	int32_t r7;
#endif
};

/* -- the cache's slots --------------------------------------------------------------------------- */

/* The size of the cache, and of the table of rules that do not fit into a slot. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_RULE_SLOTS_LOG2 6
#define LEAKWRAP_RULE_ENTRIES    32u
#else
#define LEAKWRAP_RULE_SLOTS_LOG2 14
#define LEAKWRAP_RULE_ENTRIES    8192u
#endif

/* Instructions, and so return addresses, are aligned to 1 << LEAKWRAP_PC_SHIFT. */
#define LEAKWRAP_RULE_TAG(pc)   ((pc) >> (LEAKWRAP_PC_SHIFT + LEAKWRAP_RULE_SLOTS_LOG2))
#define LEAKWRAP_RULE_INDEX(pc) ((pc) >> LEAKWRAP_PC_SHIFT)

#if UINTPTR_MAX > 0xffffffffu
/* tag << 31, then 31 bits of rule:
 *   bit 30       0: the rule itself, kind FRAME, as follows; 1: bits 0 to 12 number a rule of the table
 *   bit 29       the base: 0 sp, 1 fp
 *   bit 28       a pair was saved: fp at the place, ra in the word behind it
 *   bits 14..27  the place in words below the CFA: that of fp if a pair was saved, else that of ra.  Where a
 *                call instruction pushes the return address, ra is always at place 1, and the place is
 *                that of fp, 1 when it is still in its register
 *   bits 0..13   cfa in words */
typedef uint64_t leakwrap_rule_slot;
#define LEAKWRAP_RULE_BITS         31
#define LEAKWRAP_RULE_WIDE         ((leakwrap_rule_slot)1 << 30)
#define LEAKWRAP_RULE_FP           ((leakwrap_rule_slot)1 << 29)
#define LEAKWRAP_RULE_PAIR         ((leakwrap_rule_slot)1 << 28)
#define LEAKWRAP_RULE_FIELD        14
#define LEAKWRAP_HAVE_INLINE_RULES 1
#else
/* The tag, then the number of a rule in the table: together all 32 bits. */
typedef uint32_t leakwrap_rule_slot;
#define LEAKWRAP_RULE_BITS         (LEAKWRAP_PC_SHIFT + LEAKWRAP_RULE_SLOTS_LOG2)
#define LEAKWRAP_HAVE_INLINE_RULES 0
#endif

/* The cache: slots[LEAKWRAP_RULE_INDEX(pc) & mask].  Without memory it is one slot that stays empty. */
struct leakwrap_rule_cache {
	_Atomic leakwrap_rule_slot *slots;
	uintptr_t mask;
};

/* The cache as it is for this walk, flushed if the modules have changed since the last one. */
struct leakwrap_rule_cache leakwrap_rule_cache(void);

/* What the code alone says of a return address (prologue.h), whatever the stack says.  Reading code
 * takes up to a thousand times as long as a step.  A rule of kind NONE: the code says nothing. */
enum leakwrap_code_cache {
	LEAKWRAP_CACHE_EPILOGUES,
	LEAKWRAP_CACHE_PROLOGUES,
	LEAKWRAP_CODE_CACHES =
	        2 << LEAKWRAP_HAVE_ARM_FRAMES, /* ARM: of Thumb code behind those of ARM code */
};

/* The cache CACHE for this walk.  Without an operating system it remembers nothing: there is no
 * memory to spare. */
struct leakwrap_rule_cache leakwrap_code_cache(unsigned cache);

/* The slot of CACHE in which a rule for PC would be. */
static inline leakwrap_rule_slot leakwrap_rule_cache_load(struct leakwrap_rule_cache cache,
                                                          uintptr_t pc)
{
	return atomic_load_explicit(&cache.slots[LEAKWRAP_RULE_INDEX(pc) & cache.mask],
	                            memory_order_relaxed);
}

/* Is SLOT about PC? */
static inline bool leakwrap_rule_slot_is_for(leakwrap_rule_slot slot, uintptr_t pc)
{
	return slot != 0 && slot >> LEAKWRAP_RULE_BITS == LEAKWRAP_RULE_TAG(pc);
}

/* The rule that SLOT holds or names. */
struct leakwrap_rule leakwrap_rule_slot_rule(leakwrap_rule_slot slot);

/* Remembers RULE for PC. */
void leakwrap_rule_cache_store(struct leakwrap_rule_cache to, uintptr_t pc,
                               const struct leakwrap_rule *rule);

#endif
