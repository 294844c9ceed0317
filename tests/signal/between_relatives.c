/* between_relatives.c CASE - processes of one program send each other the dump signal. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;
static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

static void handle_and_leave(int number)
{
	(void)number;
	_exit(42);
}

/* Waits for the child PID. Returns its exit status, or 256 plus the signal that ended it. */
static int end_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return -1;
	return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Waits for a byte from another process. */
static void await(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void tell(int fd)
{
	if (write(fd, "x", 1) != 1)
		abort();
}

/* Sleeps until a signal ends the process, but at most 20 seconds.  The tracer's handler ends a call
 * of sleep early. */
static void sleep_long(void)
{
	unsigned left = 20;

	while (left != 0)
		left = sleep(left);
}

/* The parent ends a child that has perhaps not run yet. */
static int at_once(void)
{
	int ended = 0;

	for (int i = 0; i < 40; i++) {
		pid_t child = fork();

		if (child == 0) {
			kept = malloc(100);
			sleep_long();
			_exit(0);
		}
		if (i % 2)
			usleep(1000);
		kill(child, SIGUSR1);
		ended += end_of(child) == 256 + SIGUSR1;
	}
	return ended == 40 ? 0 : 1;
}

static int with_handler(void)
{
	int ready[2];
	pid_t child;

	if (pipe(ready) != 0 || (child = fork()) < 0)
		return 1;
	if (child == 0) {
		signal(SIGUSR1, handle_and_leave);
		tell(ready[1]);
		sleep_long();
		_exit(0);
	}
	await(ready[0]);
	kill(child, SIGUSR1);
	return end_of(child) == 42 ? 0 : 1;
}

static int ignoring(void)
{
	int ready[2];
	pid_t child;

	if (pipe(ready) != 0 || (child = fork()) < 0)
		return 1;
	if (child == 0) {
		signal(SIGUSR1, SIG_IGN);
		tell(ready[1]);
		sleep(1);
		_exit(7);
	}
	await(ready[0]);
	kill(child, SIGUSR1);
	return end_of(child) == 7 ? 0 : 1;
}

/* A child signals its parent, a child ends its sibling, and a grandparent ends its grandchild. */
static int all_ways(void)
{
	int ready[2];
	pid_t child, other, grandchild = 0;

	if (pipe(ready) != 0)
		return 1;
	signal(SIGUSR1, on_signal);
	child = fork();
	if (child == 0) {
		kill(getppid(), SIGUSR1);
		tell(ready[1]);
		_exit(0);
	}
	await(ready[0]);
	if (end_of(child) != 0 || handled != 1)
		return 1;
	signal(SIGUSR1, SIG_DFL);

	child = fork();
	if (child == 0) {
		sleep_long();
		_exit(0);
	}
	other = fork();
	if (other == 0) {
		kill(child, SIGUSR1);
		_exit(0);
	}
	if (end_of(other) != 0 || end_of(child) != 256 + SIGUSR1)
		return 2;

	child = fork();
	if (child == 0) {
		grandchild = fork();
		if (grandchild == 0) {
			sleep_long();
			_exit(0);
		}
		if (write(ready[1], &grandchild, sizeof(grandchild)) != sizeof(grandchild))
			_exit(1);
		_exit(end_of(grandchild) == 256 + SIGUSR1 ? 0 : 1);
	}
	if (read(ready[0], &grandchild, sizeof(grandchild)) != sizeof(grandchild))
		return 3;
	kill(grandchild, SIGUSR1);
	return end_of(child) == 0 ? 0 : 4;
}

/* The program sends the signal by other calls than kill. */
static int by_other_calls(void)
{
	for (int way = 0; way < 2; way++) {
		pid_t child = fork();

		if (child == 0) {
			sleep_long();
			_exit(0);
		}
		if (way == 0)
			sigqueue(child, SIGUSR1, (union sigval){.sival_int = 5});
		else
			syscall(SYS_tgkill, child, child, SIGUSR1);
		if (end_of(child) != 256 + SIGUSR1)
			return 1;
	}
	return 0;
}

/* The program sends the number that a wait returned to it. */
static int by_wait(void)
{
	sigset_t usr1;
	pid_t child;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	child = fork();
	if (child == 0)
		_exit(sigwaitinfo(&usr1, NULL) == SIGUSR1 ? 3 : 4);
	kill(child, SIGUSR1);
	return end_of(child) == 3 ? 0 : 1;
}

/* A signal whose default action is to stop stops the process; the next signal asks for a dump. */
static int stopping(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		sleep_long();
		_exit(0);
	}
	for (int i = 0; i < 2; i++) {
		kill(child, SIGTSTP);
		if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
			return 1;
		kill(child, SIGCONT);
	}
	kill(child, SIGKILL);
	return end_of(child) == 256 + SIGKILL ? 0 : 1;
}

/* Another program, which a child of this program executes, asks for a dump. */
static int asked_by_other(void)
{
	char command[64];
	int status;

	snprintf(command, sizeof(command), "kill -USR1 %d", (int)getpid());
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(1);
	}
	status = end_of(child);
	return status;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} cases[] = {
	        {"at_once", at_once},   {"with_handler", with_handler},     {"ignoring", ignoring},
	        {"all_ways", all_ways}, {"by_other_calls", by_other_calls}, {"by_wait", by_wait},
	        {"stopping", stopping}, {"asked_by_other", asked_by_other},
	};

	kept = malloc(1000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc == 2 && strcmp(argv[1], cases[i].name) == 0)
			return cases[i].run();
	return 99;
}
