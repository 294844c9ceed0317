/* seccomp_asks_first.c HOW [CALL...] - a program that installs several small filters, each of which
 * ends the process at one system call, and does there what it does without a tracer.
 *
 *   again CALL...   forbids one CALL after the other
 *   execs CALL      ignores the dump signal, forbids CALL, and executes another program
 *   traces CALL     forbids CALL, and then turns the crash trace on
 *   ended CALL      a forked child forbids CALL, and its parent ends it by the dump signal
 *   forked CALL     forbids CALL and forks; prints the child's id, and asks for its dump
 *   waits CALL      forbids CALL, and waits for the dump signal by sigwait until SIGTERM comes
 *   invalid         gives the kernel addresses that it cannot read
 *   loads           loads a second filter by libseccomp, where write(2) is forbidden
 *   masks           threads learn new stacks while another thread enters a sandbox
 *   failing_masks   the same, and from then on no thread may change its mask
 *   actions         a thread changes the action of the dump signal while the kernel refuses filters
 *
 * Ends with 77 if there are no filters. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <glob.h>
#include <seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/awaited_signals.h"
#include "wrap/leakwrap.h"

static void *volatile kept;

static int install(struct sock_filter *steps, unsigned short count)
{
	struct sock_fprog program = {count, steps};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Forbids the system call NUMBER. */
static void forbid(const char *number)
{
	struct sock_filter steps[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(number), 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	if (install(steps, 4) != 0)
		_exit(77);
}

static int again(char **calls)
{
	for (; *calls; calls++) {
		forbid(*calls);
		kept = malloc(33);
	}
	return 0;
}

static int execs(char **calls)
{
	signal(SIGUSR1, SIG_IGN);
	forbid(calls[0]);
	execl("/bin/true", "true", NULL);
	return 1;
}

static int traces(char **calls)
{
	forbid(calls[0]);
	leakwrap_install_crash_trace();
	return 0;
}

static int ended(char **calls)
{
	int ready[2], status;
	char byte;
	pid_t child;

	if (pipe(ready) != 0 || (child = fork()) < 0)
		return 1;
	if (child == 0) {
		forbid(calls[0]);
		kept = malloc(33);
		if (write(ready[1], "", 1) == 1)
			for (;;)
				pause();
	}
	if (read(ready[0], &byte, 1) != 1 || kill(child, SIGUSR1) != 0 ||
	    waitpid(child, &status, 0) != child)
		return 1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static int forked(char **calls)
{
	pid_t child;
	int status;

	forbid(calls[0]);
	child = fork();
	if (child == 0)
		_exit(leakwrap_dump(2) == 0 ? 0 : 1);
	printf("%d\n", (int)child);
	return waitpid(child, &status, 0) == child ? status : 1;
}

static int waits(char **calls)
{
	sigset_t set;
	int signo;

	block_awaited_signals(&set);
	forbid(calls[0]);
	kept = malloc(33);
	do {
		if (sigwait(&set, &signo) != 0)
			return 1;
	} while (signo != SIGTERM);
	_exit(0);
}

static int invalid(char **calls)
{
	struct sock_fprog program = {4, (struct sock_filter *)16};

	(void)calls;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, 16, 0, 0) == 0 || errno != EFAULT)
		return 1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 || errno != EFAULT;
}

/* The first filter forbids write(2), by which libseccomp exports a filter. */
static int loads(char **calls)
{
	scmp_filter_ctx context;
	char write_call[16];

	(void)calls;
	snprintf(write_call, sizeof(write_call), "%d", (int)SYS_write);
	forbid(write_call);
	context = seccomp_init(SCMP_ACT_ALLOW);
	return !context || seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ptrace), 0) ||
	       seccomp_load(context);
}

/* -- masks ------------------------------------------------------------------------------------- */

enum { THREADS = 6, ROUNDS = 200, CHILDREN = 40 };

static atomic_int wrong_masks;

/* Stacks of many shapes, so that the tracer has to walk, and learns under its lock. */
static void *allocate_at_depth(unsigned depth)
{
	volatile char frame[16 * (depth % 7 + 1)];
	void *block;

	frame[0] = 1;
	block = depth > 0 ? allocate_at_depth(depth - 1) : malloc(100);
	return frame[0] ? block : NULL;
}

static void *learn(void *unused)
{
	sigset_t mask;

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++)
		free(allocate_at_depth(i % 60));
	usleep(2000);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	wrong_masks += sigismember(&mask, SIGTERM) == 1;
	return NULL;
}

/* Forbids to change a mask. */
static void *enter(void *number)
{
	free(malloc(50));
	forbid(number);
	for (;;)
		pause();
	return NULL;
}

static int learn_beside_sandbox(void)
{
	pthread_t threads[THREADS], sandboxed;
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)SYS_rt_sigprocmask);
	for (int i = 0; i < THREADS; i++) {
		if (i == THREADS / 2 && pthread_create(&sandboxed, NULL, enter, number) != 0)
			return 1;
		if (pthread_create(&threads[i], NULL, learn, NULL) != 0)
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return wrong_masks;
}

static atomic_bool is_loaded;
static atomic_int learning;

static void *learn_until_loaded(void *unused)
{
	(void)unused;
	learning++;
	for (unsigned i = 0; !is_loaded; i++)
		free(allocate_at_depth(i % 60));
	for (;;)
		pause();
	return NULL;
}

/* Returns how many threads block SIGTERM.  None may ask for its mask. */
static int count_blocking(void)
{
	glob_t files;
	int blocking = 0;

	if (glob("/proc/self/task/*/status", 0, NULL, &files) != 0)
		return 1;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		FILE *const status = fopen(files.gl_pathv[i], "r");
		unsigned long long mask = 0;
		char line[200];

		while (status && fgets(line, sizeof(line), status))
			sscanf(line, "SigBlk: %llx", &mask);
		blocking += (mask >> (SIGTERM - 1) & 1) != 0;
		if (status)
			fclose(status);
	}
	globfree(&files);
	return blocking;
}

/* The filter is one of all threads. */
static int learn_beside_failing_calls(void)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, learn_until_loaded, NULL) != 0)
			return 1;
	while (learning < THREADS) /* the C library sets the mask of a new thread, too */
		usleep(1000);
	usleep(2000);
	if (!context || seccomp_attr_set(context, SCMP_FLTATR_CTL_TSYNC, 1) != 0 ||
	    seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(rt_sigprocmask), 0) != 0 ||
	    seccomp_load(context) != 0)
		return 1;
	is_loaded = true;
	usleep(5000);
	return count_blocking();
}

static int run_in_children(int (*run)(void))
{
	int status;

	for (int i = 0; i < CHILDREN; i++) {
		const pid_t child = fork();

		if (child == 0)
			_exit(run());
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
			return 1;
		if (WEXITSTATUS(status) != 0) {
			printf("threads that keep all signals blocked: %d\n", WEXITSTATUS(status));
			return 1;
		}
	}
	return 0;
}

static int masks(char **calls)
{
	(void)calls;
	return run_in_children(learn_beside_sandbox);
}

static int failing_masks(char **calls)
{
	(void)calls;
	return run_in_children(learn_beside_failing_calls);
}

/* -- actions ----------------------------------------------------------------------------------- */

static atomic_bool is_over;
static atomic_ulong changes, mistakes;

static void on_one(int signo)
{
	(void)signo;
}

static void on_other(int signo)
{
	(void)signo;
}

static void *change_action(void *unused)
{
	struct sigaction action = {.sa_handler = on_one}, before;

	(void)unused;
	sigaction(SIGUSR1, &action, NULL);
	for (void (*last)(int) = on_one; !is_over; changes++) {
		action.sa_handler = changes % 2 == 0 ? on_other : on_one;
		mistakes += sigaction(SIGUSR1, &action, &before) != 0 || before.sa_handler != last;
		last = action.sa_handler;
	}
	return NULL;
}

/* The last step does not return, so the kernel refuses the filter. */
static int actions(char **calls)
{
	struct sock_filter steps[] = {
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	};
	pthread_t thread;

	(void)calls;
	if (pthread_create(&thread, NULL, change_action, NULL) != 0)
		return 1;
	for (int i = 0; i < 1000 || changes < 10000; i++)
		if (install(steps, 2) == 0)
			return 1;
	is_over = true;
	pthread_join(thread, NULL);
	if (mistakes > 0)
		printf("wrong in %lu of %lu changes\n", (unsigned long)mistakes,
		       (unsigned long)changes);
	return mistakes > 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **calls);
	} ways[] = {
	        {"again", again},     {"execs", execs},
	        {"traces", traces},   {"ended", ended},
	        {"forked", forked},   {"waits", waits},
	        {"invalid", invalid}, {"loads", loads},
	        {"masks", masks},     {"failing_masks", failing_masks},
	        {"actions", actions},
	};

	free(malloc(20));
	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 77;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			return ways[i].run(argv + 2);
	return 2;
}
