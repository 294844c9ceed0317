/* seen_stacks.h - which unrecognized stacks have come before: only these are worth learning.
 *
 * A lossy table for all threads.  It has some bits of each stack's hash, in a place that other bits
 * choose.  Half of the time a later stack takes the place of an earlier one.  So if two stacks with
 * one place take turns, one of them is soon met again, and learned. */
#ifndef LEAKWRAP_SEEN_STACKS_H
#define LEAKWRAP_SEEN_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/unwind/trace.h"

/* Remembers the stack whose walk gave TRACE.  PLACE: a number that equal stacks share, from where
 * they begin.  SALT: another number each time.  Returns whether the stack has come before, as far
 * as that is remembered.  Signal-safe, takes no lock. */
bool leakwrap_seen_stacks_add(const struct leakwrap_trace *trace, uintptr_t place, uint32_t salt);

#endif
