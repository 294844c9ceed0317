/* screen.c - draws the rows, see top.h. */
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/top/top.h"

#if __has_include(<curses.h>)

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <string.h>

#include "tools/model/kinds.h"

static const char *const view_names[VIEWS] = {"call site", "function", "file", "module", "task"};
static const char *const order_names[ORDERS] = {"bytes", "growth", "blocks", "name", "lost bytes"};

/* Writes at most ROOM characters of TEXT; "?" stands for what the terminal cannot show. */
static void put_cut(const struct top *top, const char *text, int room)
{
	for (; *text && room > 0; room--) {
		struct character c = character_at(text);
		if (!c.is_text || (c.code >= 0x80 && !top->has_utf8))
			addch('?');
		else
			addnstr(text, (int)c.length);
		text += c.length;
	}
}

/* Writes NAME in ROOM columns.  A path that is too long loses its first folders. */
static void put_name(const struct top *top, const char *name, int room)
{
	if (*name == '/' && room > 3 && strlen(name) > (size_t)room) {
		addstr("...");
		room -= 3;
		name = text_tail(name, (size_t)room);
	}
	put_cut(top, name, room);
}

/* Draws the last values of ROW, oldest first, between their least and their greatest. */
static void put_chart(const struct top *top, const struct row *row)
{
	static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char plain[] = "_.,-=+*#";
	uint64_t least = row->bytes, most = row->bytes;
	for (unsigned i = 0; i < row->known; i++) {
		least = row->before[i] < least ? row->before[i] : least;
		most = row->before[i] > most ? row->before[i] : most;
	}
	for (int i = CHART - 2; i >= -1; i--) {
		if (i >= (int)row->known) {
			addch(' ');
			continue;
		}
		uint64_t value = i < 0 ? row->bytes : row->before[i];
		unsigned level =
		        most > least
		                ? (unsigned)(7.0 * (double)(value - least) / (double)(most - least))
		                : 0;
		if (top->has_utf8)
			addstr(bars[level]);
		else
			addch((chtype)plain[level]);
	}
}

static const char *signed_unit(double bytes)
{
	static char text[32];
	if (bytes > -0.5 && bytes < 0.5)
		return "";
	snprintf(text, sizeof text, "%c%s/s", bytes < 0 ? '-' : '+',
	         with_unit((uint64_t)(bytes < 0 ? -bytes : bytes)));
	return text;
}

/* The columns of kinds that the terminal has room for. */
enum { KIND_WIDTH = 12, NUMBERS = 52, NAME_MIN = 28 };
static const struct {
	const char *title;
	enum reach kind;
} kind_columns[] = {
        {"LOST", REACH_DEFINITE}, {"POSSIBLY", REACH_POSSIBLE}, {"REACHABLE", REACH_REACHABLE}};

/* Returns how many columns of kinds there are.  A narrow terminal has one. */
static int count_kinds(const struct top *top)
{
	const int all = sizeof kind_columns / sizeof *kind_columns;
	return !top->has_kinds ? 0 : COLS >= NUMBERS + NAME_MIN + all * KIND_WIDTH ? all : 1;
}

/* Writes the kinds of REACH, or the titles of their columns if it is NULL. */
static void put_kinds(const struct top *top, const struct reach_sums *reach)
{
	for (int i = 0; i < count_kinds(top); i++) {
		const enum reach kind = kind_columns[i].kind;
		const char *text = kind_columns[i].title;
		if (reach)
			text = with_unit(kind == REACH_DEFINITE ? lost_bytes(reach)
			                                        : reach->bytes[kind]);
		printw("%*s ", KIND_WIDTH - 1, text);
	}
}

static void put_columns(const struct top *top)
{
	const int numbers = NUMBERS + count_kinds(top) * KIND_WIDTH;

	attron(A_REVERSE);
	move(3, 0);
	put_kinds(top, NULL);
	printw("%11s %10s %14s %-*s  %-*s", top->has_baseline ? "GREW" : "BYTES", "BLOCKS",
	       "GROWTH", CHART, "CHART", COLS > numbers ? COLS - numbers : 0,
	       top->view == VIEW_SITES ? "ASKED BY" : view_names[top->view]);
	attroff(A_REVERSE);
}

/* Writes why no process is shown. */
static void put_no_process(const struct top *top)
{
	const struct watch *watch = &top->watch;

	if (watch->target_count > 0 || watch->ended_count == 0) {
		addstr("no traced process yet");
	} else if (watch->ended_count == 1) {
		printw("process %d ", watch->ended_pid);
		put_cut(top, watch->ended_name, COLS / 2);
		addstr(" has ended");
	} else {
		printw("%zu traced processes have ended", watch->ended_count);
	}
}

/* Writes what is typed, a message, the error of FAILED if it is not NULL, or what the rows are. */
static void put_state(struct top *top, const struct target *failed, bool is_empty)
{
	move(2, 0);
	if (top->typing)
		printw("filter: %s_", top->filter);
	else if (*top->message)
		put_cut(top, top->message, COLS);
	else if (failed)
		put_cut(top, failed->error, (int)strcspn(failed->error, "\n"));
	else if (is_empty)
		put_no_process(top);
	else
		printw("by %s, most %s first%s%s%s", view_names[top->view], order_names[top->order],
		       top->has_baseline ? ", grown since the mark" : "",
		       *top->filter ? ", filter " : "", top->filter);
}

static void put_head(struct top *top)
{
	uint64_t bytes = 0, blocks = 0, lost = 0;
	struct reach_sums reach = {0};
	size_t processes = 0;
	double cost = 0, interval = top->options.interval;
	const struct target *one = NULL, *failed = NULL;
	bool is_mixed = false; /* they run several programs */

	for (size_t i = 0; i < top->watch.target_count; i++) {
		const struct target *target = top->watch.targets[i];
		if (target->error)
			failed = target;
		if (!is_shown(top, target))
			continue;
		const struct totals *totals = &watch_last(target)->totals;
		is_mixed |= one && one->name != target->name;
		one = target;
		processes++;
		add_up(&bytes, totals->live_bytes > 0 ? (uint64_t)totals->live_bytes : 0);
		add_up(&blocks, totals->live_blocks > 0 ? (uint64_t)totals->live_blocks : 0);
		add_reach(&reach, &totals->reach);
		lost += totals->lost_call_sites > 0 ? (uint64_t)totals->lost_call_sites : 0;
		lost += totals->untracked_blocks > 0 ? (uint64_t)totals->untracked_blocks : 0;
		if (totals->dump_ns > 0 && (double)totals->dump_ns / 1e6 > cost)
			cost = (double)totals->dump_ns / 1e6;
		if (watch_interval(&top->watch, target) > interval)
			interval = watch_interval(&top->watch, target);
	}
	move(0, 0);
	attron(A_BOLD);
	if (processes == 1)
		printw("process %d ", one->pid);
	else
		printw("%zu processes ", processes);
	put_cut(top, is_mixed ? "of several programs" : one ? one->name : "", COLS / 2);
	attroff(A_BOLD);
	if (top->frozen)
		addstr("  frozen");
	move(1, 0);
	char line[200];
	snprintf(line, sizeof line,
	         "%s%s%s live in %s blocks%s%s%s  a dump takes %.1f ms, one every %.0f s",
	         reach.is_known ? with_unit(lost_bytes(&reach)) : "",
	         reach.is_known ? " lost, " : "", with_unit(bytes), with_commas(blocks),
	         lost ? ", " : "", lost ? with_commas(lost) : "", lost ? " not recorded" : "", cost,
	         interval);
	put_cut(top, line, COLS);
	put_state(top, failed, processes == 0);
	put_columns(top);
}

/* Writes the frames of ROW below it.  Returns the next line. */
static int put_stack(const struct top *top, const struct row *row, int line)
{
	struct arena scratch = {0};
	for (unsigned i = 0; i < row->stack->depth; i++) {
		const struct location *at = row->stack->at[i];
		for (unsigned j = 0; j < at->frame_count && line < LINES; j++) {
			move(line++, 0);
			put_cut(top,
			        arena_format(&scratch, "      %-30s  %s",
			                     frame_name(&scratch, at, &at->frames[j]),
			                     frame_place(&scratch, at, &at->frames[j])),
			        COLS);
		}
	}
	arena_free(&scratch);
	return line;
}

static void put_help(void)
{
	static const char *const lines[] = {
	        "up, down, page    choose a row",
	        "Enter             show or hide its stack",
	        "g                 sum up by call site, function, file, module, task",
	        "s                 order by bytes, growth, blocks, name, lost bytes",
	        "/                 filter: only rows with this text; empty for all",
	        "b                 mark: only what grows from now on; again for all",
	        "p                 the next process alone, or all",
	        "space             freeze, or go on",
	        "+ -               ask more often, or less",
	        "w                 write the dumps that are shown to a file",
	        "q                 end",
	};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		mvaddstr(HEAD_LINES + 1 + (int)i, 2, lines[i]);
}

/* Keeps the selected row on the screen. */
static void follow_selection(struct top *top, int room)
{
	if (top->selected >= top->shown_count)
		top->selected = top->shown_count ? top->shown_count - 1 : 0;
	if (top->selected < top->first)
		top->first = top->selected;
	if (room > 0 && top->selected >= top->first + (size_t)room)
		top->first = top->selected - (size_t)room + 1;
}

void draw_screen(struct top *top)
{
	int line = HEAD_LINES;

	erase();
	if (top->is_stale)
		choose_rows(top);
	follow_selection(top, LINES - HEAD_LINES);
	put_head(top);
	if (top->help)
		put_help();
	for (size_t i = top->first; !top->help && i < top->shown_count && line < LINES; i++) {
		const struct row *row = top->shown[i];
		move(line++, 0);
		if (i == top->selected)
			attron(A_BOLD);
		put_kinds(top, &row->reach);
		printw("%11s %10s %14s ",
		       with_unit(top->has_baseline ? row->bytes - row->baseline : row->bytes),
		       with_commas(row->blocks), signed_unit(row->growth));
		put_chart(top, row);
		addstr(i == top->selected ? " >" : "  ");
		put_name(top, row->name, COLS - NUMBERS - count_kinds(top) * KIND_WIDTH);
		attroff(A_BOLD);
		if (i == top->selected && top->expanded && row->stack)
			line = put_stack(top, row, line);
	}
	refresh();
}

#endif
