/* top.h - running programs on a terminal, which show what they hold now.
 *
 * The rows are call sites, or what they are summed up by.  A row adds up all processes that are
 * shown.  It keeps its last values, so that growth and a small chart can be shown.
 *
 * rows.c makes the rows from dumps, screen.c draws them, keys.c does what the user types, and
 * tools/command/top.c is the command.  All calls need the lock of the watch.
 */
#ifndef TOOLS_TOP_TOP_H
#define TOOLS_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/base/memory.h"
#include "tools/base/table.h"
#include "tools/live/watch.h"
#include "tools/model/model.h"

/* CHART: how many values a chart has.  HEAD_LINES: lines of the screen above the rows. */
enum { CHART = 10, HEAD_LINES = 4, FILTER_MAX = 40 };

/* What the rows are summed up by. */
enum view { VIEW_SITES, VIEW_FUNCTIONS, VIEW_FILES, VIEW_MODULES, VIEW_TASKS, VIEWS };

/* What the rows are ordered by. */
enum order { ORDER_BYTES, ORDER_GROWTH, ORDER_BLOCKS, ORDER_NAME, ORDER_LOST, ORDERS };

struct row {
	const void *key;           /* a stack, or a name with one address */
	const struct stack *stack; /* of a call site, or NULL */
	const char *name;
	uint64_t bytes, blocks, baseline;
	struct reach_sums reach;
	double growth; /* bytes a second */
	uint64_t before[CHART];
	unsigned known; /* how many of BEFORE */
};

struct top {
	struct watch_options options;
	size_t wanted_room;
	struct watch watch;
	struct row **rows;
	size_t row_count, row_room;
	struct table by_key; /* the rows */
	struct arena row_memory;
	bool is_stale; /* the rows to show must be chosen again */
	struct row **shown;
	size_t shown_count, shown_room, selected, first;
	enum view view;
	enum order order;
	bool has_kinds; /* a process that is shown tells lost from reachable memory */
	bool frozen, has_baseline, expanded, typing, has_utf8, help;
	char filter[FILTER_MAX + 1];
	pid_t only;     /* the process that is shown; 0: all */
	double updated; /* when the rows were; 0: never */
	unsigned dumps; /* that the rows know */
	char message[200];
	struct arena names; /* of the rows */
	struct strings strings;
};

/* Returns whether TARGET is among the processes that are shown. */
bool is_shown(const struct top *top, const struct target *target);

/* Adds up the last dumps of the processes that are shown. */
void update_rows(struct top *top);

/* Removes all rows, as after a change of what they are summed up by, and makes new ones. */
void forget_rows(struct top *top);

/* Chooses the rows to show, in order. */
void choose_rows(struct top *top);

/* Frees the rows. */
void free_rows(struct top *top);

/* Draws the whole screen.  Curses has been started. */
void draw_screen(struct top *top);

/* Does what KEY, a key of curses, says.  Returns false if the user wants to end. */
bool take_key(struct top *top, int key);

#endif
