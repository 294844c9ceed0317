/* totals.h - parts of a dump's live bytes and blocks. */
#ifndef TOOLS_MODEL_TOTALS_H
#define TOOLS_MODEL_TOTALS_H

#include "tools/model/model.h"

/* Takes call sites out of the dumps of REPORT and their totals, as the runtime's option system=0
 * does: keeps those whose origin KEEPS, by enum origin, says.  Live blocks at call sites that a
 * dump does not show stay in its totals.  Of the past and the mark a total becomes unknown if the
 * call sites do not tell all of it.  To be called after symbolize. */
void keep_origins(struct report *report, const bool *keeps);

/* Keeps of the dumps of REPORT what is of KINDS, a set (kinds.h).  The bytes and blocks of a call
 * site become those of the kinds: indirectly lost blocks count at the block that leads to them.
 * The members all_kinds get what the dumps say of all kinds.  Removes the dumps that do not tell
 * their kinds.  Returns their number.  To be called after suppressions_apply. */
size_t keep_kinds(struct report *report, unsigned kinds);

/* Returns what SITE has of all kinds, whatever keep_kinds has left in its other members. */
const struct reach_sums *all_kinds_of(const struct site *site);

/* Returns a copy of DUMP, which tells its kinds, with what is of KINDS alone, as keep_kinds does.
 * It is of ARENA, and shares with DUMP all but the call sites. */
const struct dump *copy_kinds(struct arena *arena, const struct dump *dump, unsigned kinds);

/* Return the bytes or blocks of SITE, of DUMP, whose kind is not known.  A sum may be of dumps that
 * do not tell, and a dump may be of a sample. */
uint64_t untold_bytes(const struct dump *dump, const struct site *site);
uint64_t untold_blocks(const struct dump *dump, const struct site *site);

/* Return the live bytes or blocks of DUMP that no suppression covers. */
uint64_t unsuppressed_bytes(const struct dump *dump);
uint64_t unsuppressed_blocks(const struct dump *dump);

/* Return the live bytes or blocks of DUMP at call sites that its options did not show. */
int64_t hidden_bytes(const struct dump *dump);
int64_t hidden_blocks(const struct dump *dump);

/* The most that a call site may have of which a dump shows nothing.  UINT64_MAX: not known. */
struct most_hidden {
	uint64_t bytes, blocks;
	uint64_t all_bytes; /* at all such call sites of the dump together */
};

/* Returns the most that DUMP may have at a call site that it does not show. */
struct most_hidden find_most_hidden(const struct dump *dump);

/* Returns the most that PARTS such call sites, at least one, may have together if each of them may
 * have MOST. */
struct most_hidden most_hidden_at(struct most_hidden most, unsigned parts);

/* Adds VALUE to *SUM, which stops at INT64_MAX.  A value that is not known, -1, adds nothing. */
void add_known(int64_t *sum, int64_t value);

/* Adds what is known of ONE to *SUM. */
void add_estimate(struct estimate *sum, const struct estimate *one);

/* Adds the standard error ONE to *SUM: errors of independent samples add up by their squares.  -1:
 * there is no sample. */
void add_error(int64_t *sum, int64_t one);

#endif
