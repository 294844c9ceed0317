/* find_site.h - the call site of an allocation whose stack the fast path does not recognize. */
#ifndef LEAKWRAP_FIND_SITE_H
#define LEAKWRAP_FIND_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/base/readers.h"
#include "wrap/record/caller.h"

/* The call site of a block that has no record yet.  After a walk the thread stays among the readers
 * (readers.h): the call site is not freed before the block has its record. */
struct leakwrap_found_site {
	uint32_t number;
	bool has_walked;
	enum leakwrap_readers_entry entered; /* for leakwrap_readers_leave */
};

/* Gives this thread the state that it should have (thread_state.h), and sets *FOUND to the call
 * site of an allocation by the caller with these registers.  Its number is LEAKWRAP_SITE_IGNORED if
 * dumps shall not show the block.  It is LEAKWRAP_SITE_LOST if the runtime cannot start, or if no
 * memory or no number is left.  It is LEAKWRAP_SITE_NONE if blocks are sampled: then
 * leakwrap_record_sample decides.  leakwrap_end_site must follow.  Signal-safe. */
void leakwrap_prepare_and_find_site(struct leakwrap_found_site *found, LEAKWRAP_CALLER_PARAMS);

/* Sets *FOUND to the call site of an allocation by CALLER, which the stack cache or a walk finds.
 * Adds it if it is new.  Its number is LEAKWRAP_SITE_LOST if no memory or no number is left.  While
 * the thread simply records, the call site may be young (young_site.h).  leakwrap_end_site must
 * follow.  Signal-safe. */
void leakwrap_find_site(struct leakwrap_found_site *found, const struct leakwrap_caller *caller);

/* Ends the hold of FOUND: the block has its record, or gets none.  Signal-safe. */
void leakwrap_end_site(const struct leakwrap_found_site *found);

#endif
