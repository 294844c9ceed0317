/* waiting.c HOW - waits for SIGUSR1 and SIGTERM, and prints what it gets, until it gets SIGTERM.
 *
 * HOW is sigwait, sigwaitinfo, sigtimedwait, or timeout. With the first it has a handler of
 * SIGWINCH. With the last it asks for dumps itself, as the tool does, and waits for a second. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/request.h"
#include "tests/awaited_signals.h"

static void do_nothing(int signo)
{
	(void)signo;
}

static int time_out(const sigset_t *set)
{
	const struct timespec second = {.tv_sec = 1};
	const union sigval request = {.sival_int = LEAKWRAP_REQUEST};
	int signo;

	sigqueue(getpid(), SIGUSR1, request);
	errno = 0;
	signo = sigtimedwait(set, NULL, &second);
	printf("%d %s\n", signo, strerror(errno));
	return 0;
}

static int wait_for(const sigset_t *set, const char *how)
{
	const struct timespec hour = {.tv_sec = 3600};
	siginfo_t info;
	int signo = 0;

	if (strcmp(how, "sigwaitinfo") == 0)
		return sigwaitinfo(set, &info) == info.si_signo ? info.si_signo : -1;
	if (strcmp(how, "sigtimedwait") == 0)
		return sigtimedwait(set, NULL, &hour);
	errno = 0;
	return sigwait(set, &signo) == 0 && errno == 0 ? signo : -1;
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	void *volatile kept;
	sigset_t set;
	int signo;

	block_awaited_signals(&set);
	setvbuf(stdout, NULL, _IONBF, 0);
	if (strcmp(how, "timeout") == 0)
		return time_out(&set);
	if (strcmp(how, "sigwait") == 0)
		signal(SIGWINCH, do_nothing);
	kept = malloc(10);
	do {
		signo = wait_for(&set, how);
		printf("%s\n", signo == SIGUSR1 ? "USR1" : signo == SIGTERM ? "TERM" : "?");
	} while (signo == SIGUSR1);
	free(kept);
	return 0;
}
