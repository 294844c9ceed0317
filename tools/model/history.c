/* history.c - see history.h. */
#include "tools/model/history.h"

#include <stdlib.h>

#include "tools/model/copy_dump.h"

/* Frees the first COUNT dumps, of which each STEPth is kept.  STEP 0: none is kept. */
static void drop(struct history *history, size_t count, size_t step)
{
	size_t kept = 0;
	for (size_t i = 0; i < history->count; i++) {
		if (i < count && (step == 0 || i % step != 0)) {
			arena_free(&history->arenas[i]);
			continue;
		}
		history->dumps[kept] = history->dumps[i];
		history->arenas[kept++] = history->arenas[i];
	}
	history->count = kept;
}

struct dump *history_copy(const struct history *history, struct report *report,
                          const struct parsed_dump *parsed, struct arena *arena)
{
	report->dump_arena = arena;
	report->earlier = history->dumps;
	report->earlier_count = history->count;
	struct dump *dump = copy_dump(report, parsed);
	report->earlier = NULL;
	report->dump_arena = &report->arena;
	return dump;
}

void history_take(struct history *history, const struct dump *dump, struct arena arena,
                  size_t limit)
{
	GROW(history->dumps, history->room, history->count + 1);
	GROW(history->arenas, history->arena_room, history->count + 1);
	history->dumps[history->count] = dump;
	history->arenas[history->count++] = arena;
	if (history->count > limit && limit == 1)
		drop(history, history->count - 1, 0);
	else if (history->count > limit)
		drop(history, history->count - 1, 2);
}

struct dump *history_add(struct history *history, struct report *report,
                         const struct parsed_dump *parsed, size_t limit)
{
	struct arena arena = {0};
	struct dump *dump = history_copy(history, report, parsed, &arena);

	history_take(history, dump, arena, limit);
	return dump;
}

void history_free(struct history *history)
{
	drop(history, history->count, 0);
	free(history->dumps);
	free(history->arenas);
	*history = (struct history){0};
}
