/* runner.c - see runner.h. */
#include "tools/torture/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/base/clock.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"

/* How long a process may take to die of SIGABRT. */
#define GRACE (2 * SECOND)

/* The descriptors below are looked at, to find those that were inherited. */
#define INHERITED_MAX 256

static sigset_t awaited_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

void runner_start(void)
{
	const sigset_t set = awaited_signals();

	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* -- start ------------------------------------------------------------------------------------- */

/* In the child: opens the program's standard streams.  Each process reads the input from its
 * start. */
static void open_streams(int input)
{
	char path[64];
	int fd, null = open("/dev/null", O_RDWR);

	snprintf(path, sizeof path, "/proc/self/fd/%d", input);
	fd = input >= 0 ? open(path, O_RDONLY) : null;
	dup2(fd, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
	if (fd > STDERR_FILENO && fd != null)
		close(fd);
}

/* In the child: closes pipes and sockets that the tool has inherited, as from make.  They would
 * keep the program from forking. */
static void close_inherited_pipes(int report)
{
	struct stat status;

	for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++)
		if (fd != report && fstat(fd, &status) == 0 &&
		    (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
			close(fd);
}

/* In the child: becomes the program.  Writes errno to REPORT if that fails. */
static void become_program(const struct runner *runner, char *const *argv, const char *options,
                           int report)
{
	const struct rlimit no_core = {0, 0};
	const sigset_t set = awaited_signals();

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	setenv("LEAKWRAP_OPTIONS", options, 1);
	open_streams(runner->input);
	close_inherited_pipes(report);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	execvp(argv[0], argv);
	const int error = errno;
	if (write(report, &error, sizeof error) < 0)
		_exit(126);
	_exit(127);
}

void runner_adopt(struct runner *runner, pid_t pid, uint64_t started, void *context)
{
	GROW(runner->all, runner->room, runner->count + 1);
	runner->all[runner->count++] =
	        (struct running){pid, context, started, started + runner->limit, false};
}

pid_t runner_run(struct runner *runner, char *const *argv, const char *options, void *context)
{
	int report[2], error = 0;

	if (pipe2(report, O_CLOEXEC) != 0)
		die("pipe: %s", strerror(errno));
	const uint64_t started = monotonic_ns();
	const pid_t pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid == 0)
		become_program(runner, argv, options, report[1]);
	close(report[1]);
	const ssize_t got = read(report[0], &error, sizeof error);
	close(report[0]);
	if (got == (ssize_t)sizeof error)
		die("%s cannot be started: %s", argv[0], strerror(error));
	runner_adopt(runner, pid, started, context);
	return pid;
}

/* -- end --------------------------------------------------------------------------------------- */

/* Sends SIGNO to RUNNING and, if that is SIGKILL, to its whole process group. */
static void send_signal(const struct running *running, int signo)
{
	if (signo == SIGKILL)
		kill(-running->pid, signo);
	kill(running->pid, signo);
}

/* Ends processes whose time is over.  Returns the nanoseconds until the next deadline. */
static uint64_t enforce_deadlines(struct runner *runner)
{
	const uint64_t now = monotonic_ns();
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < runner->count; i++) {
		struct running *running = &runner->all[i];

		if (now >= running->deadline) {
			send_signal(running, running->timed_out ? SIGKILL : SIGABRT);
			running->timed_out = true;
			running->deadline = now + GRACE;
		}
		if (running->deadline - now < next)
			next = running->deadline - now;
	}
	return next;
}

/* Takes a process that has ended off the list.  Returns false if there is none. */
static bool take_ended(struct runner *runner, struct ended *ended)
{
	*ended = (struct ended){0};
	ended->pid = waitpid(-1, &ended->status, WNOHANG);
	if (ended->pid <= 0)
		return false;
	for (size_t i = 0; i < runner->count; i++) {
		const struct running running = runner->all[i];

		if (running.pid != ended->pid)
			continue;
		if (running.pid != runner->spared)
			kill(-running.pid, SIGKILL); /* what it has left running */
		ended->context = running.context;
		ended->timed_out = running.timed_out;
		ended->ns = monotonic_ns() - running.started;
		runner->all[i] = runner->all[--runner->count];
		break;
	}
	return true;
}

bool runner_wait(struct runner *runner, uint64_t nanoseconds, struct ended *ended)
{
	const uint64_t until = monotonic_ns() + nanoseconds;
	const sigset_t set = awaited_signals();

	while (!runner->stopped) {
		const uint64_t next = enforce_deadlines(runner), now = monotonic_ns();
		uint64_t wait = until > now ? until - now : 0;
		struct timespec time;

		if (take_ended(runner, ended))
			return true;
		if (wait == 0)
			return false;
		if (next < wait)
			wait = next;
		time = (struct timespec){(time_t)(wait / SECOND), (long)(wait % SECOND)};
		const int signo = sigtimedwait(&set, NULL, &time);
		runner->stopped = signo == SIGINT || signo == SIGTERM;
	}
	return false;
}

/* Kills the children of the tool that it did not start: what programs have left running. */
static void kill_strays(void)
{
	char path[64], pids[4096];
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	while (fscanf(file, "%4095s", pids) == 1) {
		uint64_t pid;
		if (parse_number(pids, &pid))
			kill((pid_t)pid, SIGKILL);
	}
	fclose(file);
}

void runner_end(struct runner *runner)
{
	for (size_t i = 0; i < runner->count; i++)
		send_signal(&runner->all[i], SIGKILL);
	/* A process that is killed may leave children, which then are the tool's. */
	for (unsigned tries = 0; tries < 1000; tries++) {
		const pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			break;
		if (pid == 0) {
			kill_strays();
			usleep(2000);
		}
	}
	free(runner->all);
	runner->all = NULL;
	runner->count = runner->room = 0;
}
