/* misuse_text.h - the lines of a dump that tell of misuse (format.h, wrap/misuse.h). */
#ifndef LEAKWRAP_MISUSE_TEXT_H
#define LEAKWRAP_MISUSE_TEXT_H

#include "misuse.h"
#include "text.h"

/* FRAMES writes the lines of a backtrace.  Signal-safe; one thread at a time. */
void leakwrap_misuse_write(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse,
                           void (*frames)(const uintptr_t *pcs, unsigned depth));

#endif
