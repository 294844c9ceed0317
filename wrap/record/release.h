/* release.h - what a resize has in common with a release (release.c).  An entry point calls the
 * verbs of record.h instead.  All functions may run in signal handlers. */
#ifndef LEAKWRAP_RELEASE_H
#define LEAKWRAP_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/arch/arch.h"
#include "wrap/misuse/misuse.h"
#include "wrap/record/record.h"

/* Returns the release that encloses the release of BLOCK, called at SP.  Forgets the enclosing
 * release if a signal handler has left it by siglongjmp: this thread is on its own stack now, and
 * SP is above release_sp there.  Likewise ends the holds of calls that were left.
 *
 * A release of BLOCK itself is not forgotten.  The fast path stores release_sp first.  A signal
 * handler that frees a block before the store of "releasing" leaves its own release_sp there.
 *
 * Known limit: siglongjmp has left a release, and then code that is not traced allocates the same
 * address.  The release of that block is taken for a part of the release that was left, and not
 * counted as foreign. */
struct leakwrap_enclosing_release leakwrap_find_enclosing_release(const void *block, uintptr_t sp);

/* Marks BLOCK as being released: all calls with their stack below SP are part of its release. */
void leakwrap_note_release_at(uintptr_t sp, void *block);

/* Returns whether the release of BLOCK, which has no record, is a part of the release of ENCLOSING,
 * which may be NULL.  The enclosing release may be over although the stack does not show it: it is
 * over if ENCLOSING has a record again.  LEAKWRAP_RELEASING_REMAINDERS: always part of it. */
bool leakwrap_is_part_of_release(const void *enclosing, const void *block);

/* Counts a free of a block that has no record, unless not all blocks were recorded. */
void leakwrap_count_foreign_free(void);

/* Checks the release of BLOCK for misuse.  RESIZES: the release is a part of a resize.  SIZE and
 * SITE are its record; SITE is LEAKWRAP_SITE_NONE if BLOCK had none.  Returns false if nothing is
 * known about BLOCK.  With misuse=abort it may not return.
 *
 * The release path does not pass the program's caller along, which keeps that path short.  So
 * CALLER is a function of the tracer, and the backtrace begins with the tracer's own frames.
 * misuse_writer.c leaves them out. */
bool leakwrap_check_release(void *block, size_t size, uint32_t site, enum leakwrap_family family,
                            bool resizes, const struct leakwrap_caller *caller);

#endif
