/* signal_name.c - see signal_name.h. */
#include "tools/process/signal_name.h"

#include <signal.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/numbers.h"

/* glibc has these names from version 2.32 on (sigabbrev_np). */
static const char *const names[] = {
        [SIGHUP] = "HUP",       [SIGINT] = "INT",   [SIGQUIT] = "QUIT",   [SIGILL] = "ILL",
        [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT", [SIGBUS] = "BUS",     [SIGFPE] = "FPE",
        [SIGKILL] = "KILL",     [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV",   [SIGUSR2] = "USR2",
        [SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM", [SIGTERM] = "TERM",   [SIGCHLD] = "CHLD",
        [SIGCONT] = "CONT",     [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",   [SIGTTIN] = "TTIN",
        [SIGTTOU] = "TTOU",     [SIGURG] = "URG",   [SIGXCPU] = "XCPU",   [SIGXFSZ] = "XFSZ",
        [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGPOLL] = "POLL",
        [SIGPWR] = "PWR",       [SIGSYS] = "SYS",
#ifdef SIGSTKFLT /* not on each processor */
        [SIGSTKFLT] = "STKFLT",
#endif
};

#define NAMED ((int)(sizeof names / sizeof *names))

int signal_number(const char *name)
{
	uint64_t number;
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	if (strcasecmp(name, "none") == 0)
		return 0;
	if (parse_number(name, &number))
		return number > 0 && number <= 64 ? (int)number : -1;
	if (strncmp(name, "RTMIN", 5) == 0)
		return !name[5] ? SIGRTMIN
		       : name[5] == '+' && parse_number(name + 6, &number) &&
		                       number <= (uint64_t)(SIGRTMAX - SIGRTMIN)
		               ? SIGRTMIN + (int)number
		               : -1;
	for (int i = 1; i < NAMED; i++)
		if (names[i] && strcmp(names[i], name) == 0)
			return i;
	return -1;
}

const char *signal_name(struct arena *arena, int number)
{
	return number > 0 && number < NAMED && names[number]
	               ? names[number]
	               : arena_format(arena, "RTMIN+%d", number - SIGRTMIN);
}
