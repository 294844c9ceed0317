/* draft_lines.h - the grammar of a dump's lines (report/format.h).  draft_numbers.h and
 * draft_crash.h have some of them. */
#ifndef TOOLS_LOG_DRAFT_LINES_H
#define TOOLS_LOG_DRAFT_LINES_H

#include "tools/log/draft.h"

/* Reads a line of the dump.  C is what follows the line's prefix.  WHOLE: the line has its end.
 * Returns true if it is the dump's last line. */
bool draft_read(struct draft *draft, struct cursor c, bool whole);

/* Notes that the lines from here on are lost: the last stack may go on.  WHAT is a constant. */
void draft_note_loss(struct draft *draft, const char *what);

#endif
