/* kinds.h - lost or reachable: sums by kind, which kinds a user chose, and what comes first.
 *
 * Indirectly lost memory counts at the definitely lost blocks that lead to it.  So the sums of all
 * call sites are those of the dump, and a lost list is one finding with its weight.
 */
#ifndef TOOLS_MODEL_KINDS_H
#define TOOLS_MODEL_KINDS_H

#include "tools/log/parsed_dump.h"

/* Sets of kinds are bits by enum reach. */
#define KINDS_ALL  ((1u << REACHES) - 1)
#define KINDS_LOST (1u << REACH_DEFINITE | 1u << REACH_INDIRECT | 1u << REACH_POSSIBLE)

/* "definitely lost" and so on, by enum reach; those of REACH_WITHIN are "indirectly lost", too. */
extern const char *const kind_texts[REACH_NUMBERS];

/* Returns the kinds of memory that count as leaks if ORIGIN allocated it.  Shared libraries keep
 * memory for themselves, and pointers into blocks: only their definite and indirect losses count.
 * Nothing counts that the C library or the loader allocated for itself. */
unsigned kinds_judged(enum origin origin);

/* Reads a list of kinds, "definite,possible", or "all".  Returns a set of kinds, or 0 if TEXT is no
 * such list. */
unsigned parse_kinds(const char *text);

/* Adds ONE to *SUM.  The sum is known if a part of it is. */
void add_reach(struct reach_sums *sum, const struct reach_sums *one);

/* Subtracts PART from *SUM, which stops at 0. */
void subtract_reach(struct reach_sums *sum, const struct reach_sums *part);

/* Returns what of REACH is of KINDS, a set.  Indirectly lost blocks count at the block that leads
 * to them: none are left in REACH_WITHIN. */
struct reach_sums only_kinds(const struct reach_sums *reach, unsigned kinds);

/* Return the bytes or blocks of KINDS, a set. */
uint64_t kinds_bytes(const struct reach_sums *reach, unsigned kinds);
uint64_t kinds_blocks(const struct reach_sums *reach, unsigned kinds);

/* Return the weight of what is definitely lost: with what these blocks lead to. */
uint64_t lost_bytes(const struct reach_sums *reach);
uint64_t lost_blocks(const struct reach_sums *reach);

/* Compares for qsort, so that the greatest loss comes first: definitely lost before possibly lost
 * before what is lost behind other blocks.  Returns 0 if the two have lost the same. */
int compare_lost(const struct reach_sums *a, const struct reach_sums *b);

/* Compares what is lost AFTER and BEFORE in A and in B, so that the greatest growth of lost memory
 * comes first.  What shrinks does not count, nor what is not known. */
int compare_lost_growth(const struct reach_sums *before_a, const struct reach_sums *after_a,
                        const struct reach_sums *before_b, const struct reach_sums *after_b);

/* Returns whether A and B are equal, or one of them is not known. */
bool has_equal_kinds(const struct reach_sums *a, const struct reach_sums *b);

#endif
