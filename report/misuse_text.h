/* misuse_text.h - the lines of a dump that tell of misuse (format.h, wrap/misuse.h). */
#ifndef LEAKWRAP_MISUSE_TEXT_H
#define LEAKWRAP_MISUSE_TEXT_H

#include "misuse.h"
#include "sites.h"
#include "text.h"

/* BACKTRACE writes the lines of that of a call site, from its frame FIRST on.  Signal-safe; one thread at a time. */
void leakwrap_misuse_write(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse,
                           void (*backtrace)(const struct leakwrap_site *site, unsigned first));

#endif
