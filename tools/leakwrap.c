/* leakwrap.c - the tool's entry: picks the command.
 *
 *   report, diff   log lines → parse → model → symbolize → suppress → render      (host only)
 *   why            a dump and a core file → the pointers to a call site's blocks
 *   list           log lines → parse
 *   audit          a linked program → what escapes the wrap
 *   cc             a compiler's command line → the same, relinked
 *   flags          the flags that cc adds, for other build systems
 *   dump           a running program → a dump in its log
 *   torture        a program → what it does when its allocations fail
 *   top, serve, push   running programs → dumps → model → terminal, HTTP, a server of profiles
 */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/messages.h"
#include "tools/command/commands.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage, *what;
} commands[] = {
        {"report", command_report, "[OPTION...] [LOG...]", "turn dumps into a report"},
        {"diff", command_diff, "[OPTION...] OLD NEW", "show what changed between two dumps"},
        {"why", command_why, "[OPTION...] SITE LOG...",
         "show what keeps a call site's blocks alive"},
        {"list", command_list, "[LOG...]", "name the dumps in a log"},
        {"audit", command_audit, "[OPTION...] EXE",
         "find what escapes the wrap in a linked program"},
        {"cc", command_cc, "[OPTION...] -- COMPILER [ARGUMENT...]", "compile and link, traced"},
        {"flags", command_flags, "[OPTION...] [-- COMPILER]", "print the flags of such a link"},
        {"dump", command_dump, "[OPTION...] PID", "ask a running program for a dump"},
        {"set", command_set, "[OPTION...] PID KEY=VALUE...",
         "change what a running program records"},
        {"mark", command_mark, "[OPTION...] PID", "let its dumps tell what came since"},
        {"torture", command_torture, "[OPTION...] -- PROGRAM...",
         "make each allocation of a program fail"},
        {"top", command_top, "[OPTION...] [PID|NAME...]", "show running programs on the terminal"},
        {"serve", command_serve, "[OPTION...] [PID|NAME...]", "show running programs by HTTP"},
        {"push", command_push, "[OPTION...] [PID|NAME...]", "send profiles to Pyroscope or Parca"},
};

static void print_help(FILE *stream)
{
	fputs("Usage: leakwrap COMMAND [ARGUMENT...]\n"
	      "Finds out which call sites of a relinked program hold which live memory.\n\n",
	      stream);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		fprintf(stream, "  leakwrap %-8s%-28s %s\n", commands[i].name, commands[i].usage,
		        commands[i].what);
	fputs("\nleakwrap help COMMAND says more.  leakwrap --version prints the version.\n",
	      stream);
}

/* The command has told of an error, perhaps of this one. */
static bool has_told;

/* Ends the tool with a message if its standard output could not be written.  argp ends the tool by
 * itself after --help, so this is called by exit. */
static void check_output(void)
{
	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || has_told)
		return;
	complain("standard output: %s", errno ? strerror(errno) : "cannot be written");
	_exit(STATUS_USAGE);
}

int main(int argc, char **argv)
{
	static char name[64];

	argp_err_exit_status = STATUS_USAGE;
	atexit(check_output);
	if (argc < 2) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (argc > 2 && strcmp(argv[1], "help") == 0) { /* help COMMAND: COMMAND --help */
		argv[1] = argv[2];
		argv[2] = "--help";
		argc = 3;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
		print_help(stdout);
		return STATUS_FINE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("leakwrap " LEAKWRAP_VERSION);
		return STATUS_FINE;
	}
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		snprintf(name, sizeof name, "leakwrap %s", commands[i].name);
		argv[1] = name;
		int status = commands[i].run(argc - 1, argv + 1);
		has_told = status == STATUS_USAGE;
		return status;
	}
	complain("there is no command '%s'; leakwrap --help lists them", argv[1]);
	return STATUS_USAGE;
}
