/* rule_cache.h - unwind rules, which lead from a frame to its caller, and the cache of them.
 *
 * A rule belongs to a return address.  From the frame's sp and fp it computes the CFA (the end of
 * the frame: the caller's sp).  It also tells where the return address and the caller's fp were
 * stored.  Finding a rule costs a search in tables.  The rule cache, which all threads share, keeps
 * the rule under the return address.
 *
 * The cache is direct-mapped and indexed by the low bits of the return address.  A slot is one
 * machine word: the rest of the address as a tag, and the rule itself.  So one relaxed load reads a
 * whole rule, and one relaxed store replaces it.  Threads and signal handlers need no lock.  A
 * cache begins small, so that a program with few return addresses has few pages of it.  Some rules,
 * a few hundred in a program, do not fit into a slot.  They stand in the wide table, which only
 * grows; the slot holds their number there.
 *
 * All functions may run in signal handlers.  None takes a lock.
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
	/* A frame that the kernel built for a signal.  The words at sp + cfa, sp + ra and sp + fp
	 * are the interrupted sp, pc and fp.  On machines with a link register, the word at
	 * sp + add is lr. */
	LEAKWRAP_RULE_SIGNAL,
	/* As INDIRECT.  The function has changed to this stack, and the CFA is on another one. */
	LEAKWRAP_RULE_SWITCH,
	/* Go's runtime has called C.  The word at base + cfa is the goroutine, whose stack the CFA
	 * is on; the word at base + add tells where (arch/go.h). */
	LEAKWRAP_RULE_GOROUTINE,
	LEAKWRAP_RULE_END,         /* the first frame of a thread: it has no caller */
	LEAKWRAP_RULE_FP_FALLBACK, /* no table: use the frame pointer, if the stack supports it */

	LEAKWRAP_RULE_KINDS = 0x1f, /* the bits of the kind itself */
	/* Flags beside the kind, for a rule that was found on one stack: */
	LEAKWRAP_RULE_CFA_LOW = 0x20, /* the caller's sp may lie above the CFA */
	LEAKWRAP_RULE_GUESSED = 0x40, /* no code confirms the rule, only that stack does */
	LEAKWRAP_RULE_VERIFY = 0x80,  /* check the rule on each stack before using it */
};

enum leakwrap_rule_base {
	LEAKWRAP_BASE_SP,
	LEAKWRAP_BASE_FP,
	LEAKWRAP_BASE_R7, /* ARM: the frame pointer of Thumb code; fp is r11 */
};

/* Where the caller's value of a register is. */
enum leakwrap_saved_where {
	LEAKWRAP_SAVED_IN_REGISTER, /* still in the register */
	LEAKWRAP_SAVED_AT_CFA,      /* in the word at CFA + offset */
	LEAKWRAP_SAVED_AT_BASE,     /* in the word at base + offset */
	LEAKWRAP_SAVED_NOWHERE,     /* nowhere that a rule can name */
};

/* A rule.  Offsets are in bytes.  There is no padding: rules are compared as memory. */
struct leakwrap_rule {
	uint8_t kind;       /* enum leakwrap_rule_kind */
	uint8_t base;       /* enum leakwrap_rule_base */
	uint8_t ra_where;   /* enum leakwrap_saved_where */
	uint8_t fp_where;   /* enum leakwrap_saved_where */
	int32_t cfa_offset; /* from the base to the CFA, or to the word that holds it */
	int32_t add;        /* see enum leakwrap_rule_kind */
	int32_t ra_offset;  /* from the CFA or the base (ra_where) to the saved return address */
	int32_t fp_offset;  /* from the CFA or the base (fp_where) to the saved fp */
#if LEAKWRAP_HAVE_ARM_FRAMES
	int32_t r7_where;  /* enum leakwrap_saved_where */
	int32_t r7_offset; /* from the CFA or the base (r7_where) to the saved r7 */
#endif
};

/* -- the cache's slots ------------------------------------------------------------------------- */

/* The logarithms of how many slots a cache has at first, and at most. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_RULE_SLOTS_FIRST 6
#define LEAKWRAP_RULE_SLOTS_LAST  6
#elif UINTPTR_MAX > 0xffffffffu
#define LEAKWRAP_RULE_SLOTS_FIRST 10
#define LEAKWRAP_RULE_SLOTS_LAST  14
#else
#define LEAKWRAP_RULE_SLOTS_FIRST 14 /* the number of a wide rule takes the place of a tag */
#define LEAKWRAP_RULE_SLOTS_LAST  14
#endif

/* How many rules the wide table has room for. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_RULE_ENTRIES 32u
#else
#define LEAKWRAP_RULE_ENTRIES 8192u
#endif

/* Instructions, and so return addresses, are aligned to 1 << LEAKWRAP_PC_SHIFT.  The tag and the
 * index in the smallest cache are the whole address.  So a slot keeps its meaning when the cache
 * grows. */
#define LEAKWRAP_RULE_TAG(pc)   ((pc) >> (LEAKWRAP_PC_SHIFT + LEAKWRAP_RULE_SLOTS_FIRST))
#define LEAKWRAP_RULE_INDEX(pc) ((pc) >> LEAKWRAP_PC_SHIFT)

#if UINTPTR_MAX > 0xffffffffu
/* A slot is tag << 27 | rule.  The 27 bits of the rule:
 *   bit 26       1: bits 0 to 12 are the number of a rule in the wide table
 *                0: the rule itself, of kind FRAME, as follows
 *   bit 25       the base: 0 sp, 1 fp
 *   bit 24       fp and ra were saved as a pair: fp first, ra in the next word
 *   bits 12..23  where fp (of a pair) or ra was saved, in words below the CFA
 *   bits 0..11   cfa, in words
 * All bits 0: a rule of kind END.
 * Where a call instruction pushes the return address, ra is always 1 word below the CFA.  There
 * bits 12..23 say where fp was saved; 1: fp is still in its register. */
typedef uint64_t leakwrap_rule_slot;
#define LEAKWRAP_RULE_BITS         27
#define LEAKWRAP_RULE_WIDE         ((leakwrap_rule_slot)1 << 26)
#define LEAKWRAP_RULE_FP           ((leakwrap_rule_slot)1 << 25)
#define LEAKWRAP_RULE_PAIR         ((leakwrap_rule_slot)1 << 24)
#define LEAKWRAP_RULE_FIELD        12
#define LEAKWRAP_HAVE_INLINE_RULES 1
#else
/* A slot is the tag, then the number of a rule in the wide table: together all 32 bits. */
typedef uint32_t leakwrap_rule_slot;
#define LEAKWRAP_RULE_BITS         (LEAKWRAP_PC_SHIFT + LEAKWRAP_RULE_SLOTS_FIRST)
#define LEAKWRAP_HAVE_INLINE_RULES 0
#endif

/* The cache: slots[LEAKWRAP_RULE_INDEX(pc) & mask].  If there is no memory, the cache is a single
 * slot that stays empty. */
struct leakwrap_rule_cache {
	_Atomic leakwrap_rule_slot *slots;
	uintptr_t mask;
	unsigned generation; /* of the modules at the start of the walk */
};

/* Returns the cache for one walk.  Flushes it first if modules were loaded or unloaded since the
 * last walk. */
struct leakwrap_rule_cache leakwrap_rule_cache(void);

/* Caches of the rules that the code alone gives for a return address (prologue.h).  These rules do
 * not depend on the stack.  Reading code takes up to a thousand times as long as a step.  A rule of
 * kind NONE means: the code gives no rule. */
enum leakwrap_code_cache {
	LEAKWRAP_CACHE_EPILOGUES,
	LEAKWRAP_CACHE_PROLOGUES,
	/* ARM has both caches twice: first for ARM code, then for Thumb code. */
	LEAKWRAP_CODE_CACHES = 2 << LEAKWRAP_HAVE_ARM_FRAMES,
};

/* Returns the cache number CACHE, below LEAKWRAP_CODE_CACHES, for one walk.  Flushes it as
 * leakwrap_rule_cache does.  Without an operating system it stays empty: there is no memory to
 * spare. */
struct leakwrap_rule_cache leakwrap_code_cache(unsigned cache);

/* Loads the slot of CACHE that belongs to PC.  The slot may be empty or hold another address. */
static inline leakwrap_rule_slot leakwrap_rule_cache_load(struct leakwrap_rule_cache cache,
                                                          uintptr_t pc)
{
	return atomic_load_explicit(&cache.slots[LEAKWRAP_RULE_INDEX(pc) & cache.mask],
	                            memory_order_relaxed);
}

/* Returns whether SLOT holds a rule for PC. */
static inline bool leakwrap_rule_slot_is_for(leakwrap_rule_slot slot, uintptr_t pc)
{
	return slot != 0 && slot >> LEAKWRAP_RULE_BITS == LEAKWRAP_RULE_TAG(pc);
}

/* Returns whether SLOT holds a rule of kind LEAKWRAP_RULE_END for PC.  Returns false if the slot
 * does not say. */
static inline bool leakwrap_rule_slot_is_end(leakwrap_rule_slot slot, uintptr_t pc)
{
	return LEAKWRAP_HAVE_INLINE_RULES && leakwrap_rule_slot_is_for(slot, pc) &&
	       (slot & (((leakwrap_rule_slot)1 << LEAKWRAP_RULE_BITS) - 1)) == 0;
}

/* Returns the rule that SLOT, which is not empty, holds or numbers. */
struct leakwrap_rule leakwrap_rule_slot_rule(leakwrap_rule_slot slot);

/* Stores RULE for PC in CACHE.  Stores nothing if there is no memory, the wide table is full, the
 * tag of PC does not fit, or the modules have changed since the start of the walk.  Enlarges the
 * caches of later walks if many rules have been replaced by others. */
void leakwrap_rule_cache_store(struct leakwrap_rule_cache cache, uintptr_t pc,
                               const struct leakwrap_rule *rule);

#endif
