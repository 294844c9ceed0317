/* list.c - the command list: writes a line for each dump of a log, as it reads the log. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/command/commands.h"
#include "tools/log/read_log.h"
#include "tools/model/kinds.h"

struct list {
	const char **logs;
	size_t log_count, log_room;
	size_t dumps; /* listed so far */
};

static error_t parse_argument(int key, char *argument, struct argp_state *state)
{
	struct list *list = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	GROW(list->logs, list->log_room, list->log_count + 1);
	list->logs[list->log_count++] = argument;
	return 0;
}

/* Returns NUMBER as text, "-" if the dump does not have it. */
static const char *number_or_dash(int64_t number)
{
	return number < 0 ? "-" : with_commas((uint64_t)number);
}

static void put_dump(void *context, const struct parsed_dump *dump)
{
	struct list *list = context;
	const char *time = dump->time;
	bool dated = time && strlen(time) == sizeof "2026-11-20T18:36:07Z" - 1;

	if (list->dumps++ == 0)
		printf("%8s %5s  %-9s %-19s %15s %11s %15s  %-5s  %s\n", "pid", "dump", "reason",
		       "time (UTC)", "live bytes", "blocks", "lost bytes", "state", "program, log");
	printf("%8lu %5lu  %-9s %-10.10s %-8.8s %15s %11s %15s  %-5s  ", dump->pid, dump->sequence,
	       dump->reason ? dump->reason : "?", dated ? time : "?", dated ? time + 11 : "",
	       number_or_dash(dump->totals.live_bytes), number_or_dash(dump->totals.live_blocks),
	       dump->totals.reach.is_known ? with_commas(lost_bytes(&dump->totals.reach)) : "-",
	       dump->damage ? "torn" : "whole");
	put_text(stdout, dump->program && *dump->program ? dump->program : "?");
	fputs("  ", stdout);
	put_text(stdout, dump->log);
	if (dump->damage)
		printf(":%lu: %s", dump->damage_line, dump->damage);
	putchar('\n');
}

static bool list_log(struct list *list, const char *path)
{
	const char *log = log_name(path);
	size_t before = list->dumps;
	bool fine = false;

	const char *error = parse_file(path, log, put_dump, list);
	if (error && strchr(path, '@') && access(path, F_OK) != 0)
		complain("%s: %s; list takes a whole log, without @", log, error);
	else if (error)
		complain("%s: %s", log, error);
	else if (list->dumps == before)
		complain("%s holds no dump", log);
	else
		fine = true;
	return fine;
}

int command_list(int argc, char **argv)
{
	static const struct argp argp = {
	        .parser = parse_argument,
	        .args_doc = "[LOG...]",
	        .doc = "Names the dumps in one or more logs."
	               "\vLOG is a file with dumps between any other lines, or - for standard "
	               "input (the default).  A dump that is not whole is torn.  Then its line "
	               "says what is wrong, and in which line of the log.  Other commands take one "
	               "dump as LOG@PID:DUMP, or LOG@PID:DUMP:K for the Kth line with these "
	               "numbers.\n\n"
	               "Exit status: 0 fine, 2 usage, unreadable input or a log without dumps.",
	};
	struct list list = {0};
	bool fine = true;

	argp_parse(&argp, argc, argv, 0, NULL, &list);
	if (list.log_count == 0) {
		GROW(list.logs, list.log_room, 1);
		list.logs[list.log_count++] = "-";
	}
	for (size_t i = 0; i < list.log_count; i++)
		if (!list_log(&list, list.logs[i]))
			fine = false;
	free(list.logs);
	return fine ? STATUS_FINE : STATUS_USAGE;
}
