/* misuse_text.h - the text of a report of misuse (wrap/misuse.h):
 *
 *   leakwrap: misuse in process 4711, thread 4712: double free of 0x55d0c9a012a0, in free
 *   leakwrap:   #0 0x4015b7 close_session+0x37 [1] server+0x15b7
 *   leakwrap: it was released before
 *   leakwrap:   #0 0x401612 on_timeout+0x22 [1] server+0x1612
 *   leakwrap: a block of 40 bytes at 0x55d0c9a012a0, allocated
 *   leakwrap:   #0 0x401402 open_session+0x12 [1] server+0x1402
 *   leakwrap: end of misuse
 *
 * Lines without the number of a dump are no part of one: the leakwrap tool skips them. */
#ifndef LEAKWRAP_MISUSE_TEXT_H
#define LEAKWRAP_MISUSE_TEXT_H

#include "misuse.h"
#include "text.h"

/* Signal-safe; one thread at a time. */
void leakwrap_misuse_write(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse);

#endif
