/* draft_numbers.h - the lines of a dump that hold its totals, and the numbers of a call site. */
#ifndef TOOLS_LOG_DRAFT_NUMBERS_H
#define TOOLS_LOG_DRAFT_NUMBERS_H

#include "tools/log/draft.h"

/* Reads C, pairs such as "live_bytes=40 live_blocks=1", into the totals of DRAFT's dump. */
void draft_read_totals(struct draft *draft, struct cursor c);

/* Reads "definite_bytes=40 definite_blocks=1 ... pause_ns=53211 scanned=copy heap=known". */
void draft_read_kinds(struct draft *draft, struct cursor c);

/* Reads WORD, "sampled=12", into ESTIMATE if it is one of its keys. */
void draft_read_estimate(struct draft *draft, struct estimate *estimate, const struct cursor *word);

/* Reads "definite=40/1", a kind of a call site.  Returns false if WORD is no such word.  Sets
 * *IS_WHOLE to false if a number is damaged or larger than those of SITE, whose bytes indirectly
 * lost blocks of other call sites may exceed. */
bool draft_read_site_kind(struct parsed_site *site, struct cursor word, bool *is_whole);

/* Returns the time in WORD, or NULL if it is none. */
const char *draft_read_time(struct draft *draft, const struct cursor *word);

#endif
