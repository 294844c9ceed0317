/* supervise.c - runs the stress program, and asks it for dumps, a thousand times a second in a
 * storm. It reads the program's log, and notices if the program hangs. It is not traced.
 *
 *   supervise LIMIT PROGRAM ARGUMENT...
 *
 * The program's standard error is a pipe to here. Every line must belong to a dump, and every dump
 * must be whole. The numbers of a process's dumps must rise (some of its dumps go elsewhere). The
 * program writes the kind of each round to descriptor 3 (rounds.h). If none comes for LIMIT
 * seconds, the program hangs. */
#include "rounds.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds, and signals in a burst. In a storm, a burst sends one signal each millisecond. Then
 * the program serves the gathered signals; while more come than it can serve, a thread does nothing
 * else. The next burst comes QUIET after the last dump, but at least PAUSE after the burst. In a
 * flow, a signal comes every SELDOM, and SELDOM after the last dump: on a slow machine a dump may
 * take longer. */
enum { BURST = 200, PAUSE = 300, QUIET = 200, SELDOM = 100 };

/* The processes that have written to the log. */
enum { PROCESSES = 1 << 16 };

struct process {
	int pid;
	unsigned number;     /* of the process's last dump */
	unsigned long lines; /* of the dump that it is writing, or 0 */
	bool ends;           /* the last dump is the exit dump */
};

static struct process processes[PROCESSES];
static unsigned long dumps, faults;
static int program;        /* the started process */
static int last_exit;      /* the process that wrote the last exit dump */
static double last_served; /* when the last dump that a signal asked for was complete */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fault(const char *what, const char *line)
{
	if (++faults <= 20)
		printf("%s: %.200s\n", what, line);
}

/* Process numbers are reused: what follows the exit dump belongs to another process. Its first
 * dumps may have gone to a descriptor of its own. */
static struct process *process_of(int pid)
{
	struct process *process = &processes[(unsigned)pid % PROCESSES];

	if (process->pid != pid)
		*process = (struct process){.pid = pid};
	return process;
}

static void read_line(const char *line)
{
	struct process *process;
	unsigned number;
	int pid, length = 0;
	unsigned long lines;

	if (sscanf(line, "leakwrap[%d.%u] %n", &pid, &number, &length) < 2 || length == 0) {
		fault("not a dump's line", line);
		return;
	}
	process = process_of(pid);
	line += length;
	if (strncmp(line, "dump version=1 ", 15) == 0) {
		if (process->lines > 0)
			fault("a dump begins inside another", line);
		if (number <= process->number && number != 1)
			fault("a dump's number does not follow", line);
		if (strstr(line, " reason=misuse "))
			fault("misuse is told of where there is none", line);
		process->number = number;
		process->lines = 1;
		process->ends = strstr(line, " reason=exit ") != NULL;
		if (process->ends)
			last_exit = pid;
		return;
	}
	if (process->lines == 0 || process->number != number)
		fault("a line outside of its dump", line);
	process->lines++;
	if (sscanf(line, "end sites=%*u lines=%lu", &lines) == 1) {
		if (lines != process->lines)
			fault("a dump misses lines", line);
		process->lines = 0;
		if (process->ends)
			process->pid = 0;
		else if (pid == program)
			last_served = now();
		dumps++;
	}
}

/* Reads from the log. Returns false at its end. */
static bool read_log(int fd)
{
	static char text[1 << 20];
	static size_t kept;
	ssize_t got = read(fd, text + kept, sizeof(text) - kept - 1);
	char *line = text, *end;

	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR);
	kept += (size_t)got;
	while ((end = memchr(line, '\n', kept - (size_t)(line - text))) != NULL) {
		*end = '\0';
		read_line(line);
		line = end + 1;
	}
	kept -= (size_t)(line - text);
	memmove(text, line, kept);
	return true;
}

static int start(char **command, int *log, int *life)
{
	int log_pipe[2], life_pipe[2];
	int pid;

	if (pipe2(log_pipe, O_CLOEXEC) != 0 || pipe2(life_pipe, O_CLOEXEC) != 0 ||
	    (pid = fork()) < 0) {
		perror("supervise");
		exit(2);
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(log_pipe[1], 2);
		dup2(life_pipe[1], 3);
		if (life_pipe[1] == 3)
			fcntl(3, F_SETFD, 0);
		execv(command[0], command);
		_exit(127);
	}
	close(log_pipe[1]);
	close(life_pipe[1]);
	*log = log_pipe[0];
	*life = life_pipe[0];
	fcntl(*log, F_SETPIPE_SZ, 1 << 20);
	fcntl(*log, F_SETFL, O_NONBLOCK);
	fcntl(*life, F_SETFL, O_NONBLOCK);
	return pid;
}

/* Returns whether the program has had the time that it gets between dumps, in a round of KIND,
 * after SENT signals in storms. */
static bool is_rested(char kind, unsigned long sent)
{
	const double rest = (now() - last_served) * 1000;

	return kind == FLOW ? rest > SELDOM : sent % BURST != 0 || rest > QUIET;
}

int main(int argc, char **argv)
{
	int log, life, status = 0;
	unsigned long sent = 0, in_storms = 0;
	double limit, heard, next = 0;
	char kind = 0; /* of the round; 0 before the first round */
	bool hangs = false, log_open = true, ended = false;

	if (argc < 3)
		return 2;
	limit = atof(argv[1]);
	program = start(argv + 2, &log, &life);
	heard = now();
	while (log_open) {
		struct pollfd polled[] = {{.fd = log, .events = POLLIN}};
		char bytes[64];
		ssize_t count;

		poll(polled, 1, 1);
		if (polled[0].revents) {
			log_open = read_log(log);
		}
		count = read(life, bytes, sizeof(bytes));
		if (count > 0) {
			heard = now();
			kind = bytes[count - 1];
		}
		if (!ended && waitpid(program, &status, WNOHANG) == program)
			ended = true;
		/* SIGUSR1 would end the program before the tracer has started. */
		if (kind && !ended && now() * 1000 >= next && is_rested(kind, in_storms)) {
			kill(program, SIGUSR1);
			sent++;
			if (kind == FLOW)
				next = now() * 1000 + SELDOM;
			else
				next = now() * 1000 + (++in_storms % BURST == 0 ? PAUSE : 1);
		}
		if (now() - heard > limit && !hangs) {
			printf("no sign of life for %.0f seconds\n", limit);
			hangs = true;
			if (getenv("STRESS_STOP_AT_HANG"))
				pause();
			kill(program, SIGABRT);
		}
	}
	if (!ended)
		waitpid(program, &status, 0);
	for (int i = 0; i < PROCESSES; i++)
		if (processes[i].lines > 0) {
			printf("a dump of process %d has no end\n", processes[i].pid);
			faults++;
		}
	if (last_exit != program) {
		printf("the program's exit dump did not come last\n");
		faults++;
	}
	printf("%lu signals, %lu dumps read, %lu faults in them, status %d%s\n", sent, dumps,
	       faults, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
	       hangs ? ", hung" : "");
	return hangs || faults > 0 || status != 0;
}
