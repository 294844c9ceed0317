/* top.c - the command top: starts the terminal, and asks and draws until the user ends it. */
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/command/commands.h"

#if __has_include(<curses.h>)

#include <argp.h>
#include <curses.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

#include "tools/command/options.h"
#include "tools/top/top.h"

enum { DUMPS_KEPT = 1, KEY_INTERVAL = 0x300 };

/* top reads dumps for at most this share of a processor's time.  The rows and the screen take less
 * than as much again. */
#define READING_SHARE 0.012

static volatile sig_atomic_t ended;

static void end(int number)
{
	ended = number;
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
			draw_screen(top);
		pthread_mutex_unlock(&top->watch.lock);
		if (!goes_on)
			return;
		key = getch();
	} while (!ended);
}

/* Starts curses.  Returns false after a message if the terminal cannot show the rows. */
static bool start_screen(void)
{
	const char *name = getenv("TERM");
	int reason;
	const bool is_known = setupterm(NULL, STDOUT_FILENO, &reason) == OK;
	if (is_known && !cursor_address)
		complain("the terminal %s cannot place its cursor, which top needs; leakwrap dump "
		         "and leakwrap serve do not",
		         name ? name : "");
	else if (!is_known || !newterm(NULL, stdout, stdin))
		complain("the terminal %s is not known", name ? name : "");
	else
		return true;
	return false;
}

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
	         "The time between two requests to a process (default 2)", 0},
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
	if (!start_screen()) {
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
	free_rows(&top);
	free(top.options.wanted);
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
