/* history.h - the dumps of one process, of which only some are kept. */
#ifndef TOOLS_HISTORY_H
#define TOOLS_HISTORY_H

#include "tools/model/view.h"

/* A history is all 0 at first. */
struct history {
	const struct dump **dumps; /* in the order in which they came */
	struct arena *arenas;      /* of the dumps */
	size_t count, room, arena_room;
};

/* Adds a copy of PARSED, whose modules, locations and stacks are in REPORT.  Returns the copy.
 *
 * Then at most LIMIT dumps are kept.  A LIMIT of 1 keeps the last.  Otherwise the first, the last
 * and every second of those between are kept when they become too many. */
struct dump *history_add(struct history *history, struct report *report,
                         const struct parsed_dump *parsed, size_t limit);

void history_free(struct history *history);

#endif
