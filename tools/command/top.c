/* top.c - the command top: running programs on a terminal, which show what they hold now.
 *
 * The rows are call sites, or what they are summed up by.  A row adds up all processes that are
 * shown.  It keeps its last values, so that growth and a small chart can be shown.
 */
#include "tools/command/commands.h"
#include "tools/util.h"

#if __has_include(<curses.h>)

#define NCURSES_WIDECHAR 1
#include <argp.h>
#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/command/options.h"
#include "tools/live/watch.h"
#include "tools/model/kinds.h"

enum { CHART = 10, DUMPS_KEPT = 1, HEAD_LINES = 4, KEY_INTERVAL = 0x300, FILTER_MAX = 40 };

/* top reads dumps for at most this share of a processor's time.  The rows and the screen take less
 * than as much again. */
#define READING_SHARE 0.012

enum view { VIEW_SITES, VIEW_FUNCTIONS, VIEW_FILES, VIEW_MODULES, VIEW_TASKS, VIEWS };
static const char *const view_names[VIEWS] = {"call site", "function", "file", "module", "task"};

enum order { ORDER_BYTES, ORDER_GROWTH, ORDER_BLOCKS, ORDER_NAME, ORDER_LOST, ORDERS };
static const char *const order_names[ORDERS] = {"bytes", "growth", "blocks", "name", "lost bytes"};

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

static volatile sig_atomic_t ended;

static void end(int number)
{
	ended = number;
}

/* -- rows -------------------------------------------------------------------------------------- */

static bool is_shown(const struct top *top, const struct target *target)
{
	return !target->ended && watch_last(target) && (!top->only || top->only == target->pid);
}

static const char *name_of_stack(struct top *top, const struct stack *stack)
{
	struct arena scratch = {0};
	const char *name = "(no stack)";
	unsigned count = 0;
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		if (stack->asked >= count + at->frame_count) {
			count += at->frame_count;
			continue;
		}
		const struct frame *frame = &at->frames[stack->asked - count];
		const char *place = frame_place(&scratch, at, frame);
		name = frame->function
		               ? arena_format(&scratch, "%s  %s", frame->function, base_name(place))
		               : place;
		break;
	}
	name = intern_text(&top->strings, name);
	arena_free(&scratch);
	return name;
}

static bool is_row_of(const void *key, const void *entry)
{
	const struct row *row = entry;
	return row->key == key;
}

static struct row *row_of(struct top *top, const struct site *site)
{
	static const enum group_kind kinds[VIEWS] = {GROUP_NONE, GROUP_FUNCTION, GROUP_FILE,
	                                             GROUP_MODULE, GROUP_NONE};
	const struct stack *stack = top->view == VIEW_SITES ? site->stack : NULL;
	const void *key = stack;
	if (top->view == VIEW_TASKS)
		key = intern_text(&top->strings, site->task ? site->task : "(not known)");
	else if (!stack)
		key = intern_text(&top->strings, group_of_stack(site->stack, kinds[top->view]));
	uint64_t hash = hash_word(0, (uintptr_t)key);
	struct row *row = table_find(&top->by_key, hash, key, is_row_of);
	if (row)
		return row;
	row = arena_alloc(&top->row_memory, sizeof *row);
	*row = (struct row){
	        .key = key, .stack = stack, .name = stack ? name_of_stack(top, stack) : key};
	table_add(&top->by_key, hash, row);
	GROW(top->rows, top->row_room, top->row_count + 1);
	top->rows[top->row_count++] = row;
	return row;
}

/* Adds up the last dumps of the processes that are shown. */
static void update_rows(struct top *top)
{
	double now = watch_now(), passed = top->updated > 0 ? now - top->updated : 0;

	for (size_t i = 0; i < top->row_count; i++) {
		struct row *row = top->rows[i];
		memmove(row->before + 1, row->before, (CHART - 1) * sizeof *row->before);
		row->before[0] = row->bytes;
		row->known += row->known < CHART;
		row->bytes = row->blocks = 0;
		row->reach = (struct reach_sums){0};
	}
	top->has_kinds = false;
	for (size_t i = 0; i < top->watch.target_count; i++) {
		const struct target *target = top->watch.targets[i];
		const struct dump *dump = is_shown(top, target) ? watch_last(target) : NULL;
		top->has_kinds |= dump && dump->totals.reach.is_known;
		for (size_t j = 0; dump && j < dump->site_count; j++) {
			struct row *row = row_of(top, &dump->sites[j]);
			add_up(&row->bytes, dump->sites[j].bytes);
			add_up(&row->blocks, dump->sites[j].blocks);
			add_reach(&row->reach, &dump->sites[j].reach);
		}
	}
	for (size_t i = 0; passed > 0 && i < top->row_count; i++)
		top->rows[i]->growth =
		        ((double)top->rows[i]->bytes - (double)top->rows[i]->before[0]) / passed;
	top->updated = now;
	top->is_stale = true;
}

static void forget_rows(struct top *top)
{
	table_free(&top->by_key);
	top->by_key = (struct table){0};
	arena_reset(&top->row_memory);
	top->row_count = top->selected = top->first = 0;
	top->updated = 0;
	top->has_baseline = top->expanded = false;
	update_rows(top);
}

static enum order sort_order; /* for compare_rows */

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;
	int first = sort_order == ORDER_LOST ? compare_lost(&a->reach, &b->reach) : 0;
	if (first)
		return first;
	if (sort_order == ORDER_GROWTH && a->growth != b->growth)
		return a->growth > b->growth ? -1 : 1;
	if (sort_order == ORDER_BLOCKS && a->blocks != b->blocks)
		return a->blocks > b->blocks ? -1 : 1;
	if (sort_order != ORDER_NAME && a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Chooses the rows to show, in order. */
static void choose_rows(struct top *top)
{
	top->is_stale = false;
	top->shown_count = 0;
	for (size_t i = 0; i < top->row_count; i++) {
		struct row *row = top->rows[i];
		if ((row->bytes == 0 && row->blocks == 0) ||
		    (top->has_baseline && row->bytes <= row->baseline) ||
		    (*top->filter && !strcasestr(row->name, top->filter)))
			continue;
		GROW(top->shown, top->shown_room, top->shown_count + 1);
		top->shown[top->shown_count++] = row;
	}
	sort_order = top->order;
	if (top->shown_count)
		qsort(top->shown, top->shown_count, sizeof *top->shown, compare_rows);
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

/* -- the screen -------------------------------------------------------------------------------- */

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
	size_t length = strlen(name);
	if (*name == '/' && room > 3 && length > (size_t)room) {
		addstr("...");
		room -= 3;
		name += length - (size_t)room;
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

static void draw(struct top *top)
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

/* -- keys -------------------------------------------------------------------------------------- */

/* Writes the dumps that are shown to a new file of the current folder. */
static void write_dumps(struct top *top)
{
	char name[64];
	int fd = -1;
	for (unsigned i = 1; i < 1000 && fd < 0; i++) {
		snprintf(name, sizeof name, "leakwrap-%d-%u.log", top->only, i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	bool fine = fd >= 0;
	for (size_t i = 0; fine && i < top->watch.target_count; i++) {
		const struct target *target = top->watch.targets[i];
		if (is_shown(top, target) && target->raw)
			fine = write(fd, target->raw, target->raw_size) ==
			       (ssize_t)target->raw_size;
	}
	snprintf(top->message, sizeof top->message, fine ? "%s has the dumps%s%s" : "%s: %s%s",
	         name, fine ? "" : strerror(errno), "");
	if (fd >= 0)
		close(fd);
}

static void show_next_process(struct top *top)
{
	bool found = top->only == 0;
	pid_t next = 0;
	for (size_t i = 0; i < top->watch.target_count && !next; i++) {
		const struct target *target = top->watch.targets[i];
		if (found && !target->ended && watch_last(target))
			next = target->pid;
		found |= target->pid == top->only;
	}
	top->only = next;
	forget_rows(top);
}

static void type_filter(struct top *top, int key)
{
	size_t length = strlen(top->filter);
	if (key == '\n' || key == KEY_ENTER || key == 27)
		top->typing = false;
	else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length)
		top->filter[length - 1] = '\0';
	else if (key >= ' ' && key < 127 && length < FILTER_MAX)
		top->filter[length] = (char)key;
}

static void mark(struct top *top)
{
	top->has_baseline = !top->has_baseline;
	for (size_t i = 0; i < top->row_count; i++)
		top->rows[i]->baseline = top->rows[i]->bytes;
}

static void move_selection(struct top *top, int by)
{
	long at = (long)top->selected + by;
	top->selected = at < 0 ? 0 : (size_t)at;
}

/* Asks twice as often, or half as often. */
static void change_interval(struct top *top, bool is_shorter)
{
	double *interval = &top->watch.options.interval;

	if (is_shorter && *interval > 1)
		*interval /= 2;
	else if (!is_shorter && *interval < 3600)
		*interval *= 2;
	top->options.interval = *interval;
}

/* Does what KEY says.  Returns false at the end. */
static bool take_key(struct top *top, int key)
{
	int page = LINES > HEAD_LINES + 1 ? LINES - HEAD_LINES - 1 : 1;

	*top->message = '\0';
	top->is_stale = true;
	if (top->typing) {
		type_filter(top, key);
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case ' ':
		top->frozen = !top->frozen;
		break;
	case 'h':
	case '?':
		top->help = !top->help;
		break;
	case 'g':
		top->view = (top->view + 1) % VIEWS;
		forget_rows(top);
		break;
	case 's':
		top->order = (top->order + 1) % ORDERS;
		break;
	case '/':
		memset(top->filter, 0, sizeof top->filter);
		top->typing = true;
		break;
	case 'b':
		mark(top);
		break;
	case 'p':
		show_next_process(top);
		break;
	case 'w':
		write_dumps(top);
		break;
	case '+':
	case '-':
		change_interval(top, key == '+');
		break;
	case '\n':
	case KEY_ENTER:
		top->expanded = !top->expanded;
		break;
	case KEY_UP:
	case KEY_DOWN:
		move_selection(top, key == KEY_UP ? -1 : 1);
		break;
	case KEY_PPAGE:
	case KEY_NPAGE:
		move_selection(top, key == KEY_PPAGE ? -page : page);
		break;
	default:
		break;
	}
	return true;
}

/* Asks the processes that are due, and takes up the dumps that have come. */
static void ask(struct top *top)
{
	unsigned dumps = 0;
	bool waits = false;
	watch_scan(&top->watch);
	for (size_t i = 0; i < top->watch.target_count; i++) {
		struct target *target = top->watch.targets[i];
		watch_want(&top->watch, target);
		dumps += target->dumps;
		waits |= target->wanted && !target->is_late;
	}
	if (dumps != top->dumps && !waits)
		update_rows(top);
	if (!waits)
		top->dumps = dumps;
}

static void run(struct top *top)
{
	int key = ERR;
	do {
		pthread_mutex_lock(&top->watch.lock);
		bool goes_on = key == ERR || take_key(top, key);
		if (goes_on && !top->frozen)
			ask(top);
		if (goes_on)
			draw(top);
		pthread_mutex_unlock(&top->watch.lock);
		if (!goes_on)
			return;
		key = getch();
	} while (!ended);
}

/* -- the command ------------------------------------------------------------------------------- */

static error_t parse_top(int key, char *argument, struct argp_state *state)
{
	struct top *top = state->input;
	switch (key) {
	case KEY_INTERVAL:
		top->options.interval = (double)option_seconds(state, "interval", argument, 1);
		break;
	case 'k':
		top->options.kinds = true;
		top->order = ORDER_LOST;
		break;
	case ARGP_KEY_ARG:
		GROW(top->options.wanted, top->wanted_room, top->options.wanted_count + 1);
		top->options.wanted[top->options.wanted_count++] = argument;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int command_top(int argc, char **argv)
{
	static const struct argp_option table[] = {
	        {"interval", KEY_INTERVAL, "SECONDS", 0,
	         "Ask a process once in so many seconds (default 2)", 0},
	        {"kinds", 'k', 0, 0, "Ask for dumps that tell lost from reachable memory", 0},
	        {0},
	};
	static const struct argp argp = {
	        .options = table,
	        .parser = parse_top,
	        .args_doc = "[PID|NAME...]",
	        .doc = "Shows on the terminal what running programs hold, and what grows."
	               "\vPID is a process, NAME the name of a program.  Without either, all "
	               "traced processes that this user may ask are shown.  The key h lists all "
	               "keys.",
	};
	struct top top = {.options = {.interval = 2,
	                              .timeout = 10,
	                              .dumps_kept = DUMPS_KEPT,
	                              .reading_share = READING_SHARE}};
	const struct sigaction action = {.sa_handler = end};

	argp_parse(&argp, argc, argv, 0, NULL, &top);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		complain("top needs a terminal; leakwrap dump and leakwrap serve do not");
		return STATUS_USAGE;
	}
	setlocale(LC_CTYPE, "");
	top.has_utf8 = MB_CUR_MAX > 1;
	top.strings.arena = &top.names;
	watch_start(&top.watch, &top.options);
	if (!newterm(NULL, stdout, stdin)) {
		complain("the terminal %s is not known", getenv("TERM") ? getenv("TERM") : "");
		watch_stop(&top.watch);
		return STATUS_USAGE;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	timeout(250);
	run(&top);
	endwin();
	watch_stop(&top.watch);
	free(top.rows);
	table_free(&top.by_key);
	arena_free(&top.row_memory);
	free(top.shown);
	free(top.options.wanted);
	table_free(&top.strings.table);
	arena_free(&top.names);
	return STATUS_FINE;
}

#else

int command_top(int argc, char **argv)
{
	(void)argc, (void)argv;
	complain("this leakwrap was built without ncurses: install libncurses-dev, and build it "
	         "again after make clean");
	return STATUS_USAGE;
}

#endif
