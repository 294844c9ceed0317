/* history.h - the dumps of one process, of which only some are kept. */
#ifndef TOOLS_MODEL_HISTORY_H
#define TOOLS_MODEL_HISTORY_H

#include "tools/base/memory.h"
#include "tools/model/view.h"

/* A history is all 0 at first. */
struct history {
	const struct dump **dumps; /* in the order in which they came */
	struct arena *arenas;      /* of the dumps */
	size_t count, room, arena_room;
};

/* Returns a copy of PARSED, whose modules, locations and stacks are in REPORT.  What only the copy
 * has is in ARENA, which is all 0 before.  The dumps in HISTORY are earlier ones of the process,
 * and may tell what PARSED has lost. */
struct dump *history_copy(const struct history *history, struct report *report,
                          const struct parsed_dump *parsed, struct arena *arena);

/* Adds DUMP, which history_copy has returned, and takes over its ARENA.
 *
 * Then at most LIMIT dumps are kept.  A LIMIT of 1 keeps the last.  Otherwise the first, the last
 * and every second of those between are kept when they become too many. */
void history_take(struct history *history, const struct dump *dump, struct arena arena,
                  size_t limit);

/* Adds a copy of PARSED as the two functions above do.  Returns the copy. */
struct dump *history_add(struct history *history, struct report *report,
                         const struct parsed_dump *parsed, size_t limit);

void history_free(struct history *history);

#endif
