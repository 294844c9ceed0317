/* blocks_writer.h - lists all live blocks in a dump, with the option blocks=1 (format.h).  So the
 * tool can look for lost memory in a core file of the process.
 *
 * One thread at a time.  Signal-safe. */
#ifndef LEAKWRAP_BLOCKS_WRITER_H
#define LEAKWRAP_BLOCKS_WRITER_H

#include "report/line_writer.h"
#include "report/site_totals.h"

/* Writes the lines memory, own, root and blocks.  The rank of a call site is that of its row in
 * TOTALS.  Does nothing without the option blocks=1.  Writes a note instead if not all blocks are
 * recorded, or if there is no memory. */
void leakwrap_blocks_write(struct leakwrap_writer *writer,
                           const struct leakwrap_site_totals *totals);

#endif
