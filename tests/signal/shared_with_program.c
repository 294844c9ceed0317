/* shared_with_program.c HOW - sets the dump signal's action in ways that a tracer easily gets
 * wrong. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled, stop;

static void handler(int number)
{
	(void)number;
	handled++;
}

/* SIG_IGN and SIG_DFL mean the same with SA_SIGINFO. */
static int with_siginfo(void)
{
	struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	action.sa_handler = SIG_DFL;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	return 0;
}

/* A child of vfork resets its signals before exec. The parent keeps its own actions. */
static int reset_after_vfork(void)
{
	pid_t child;

	signal(SIGUSR1, handler);
	child = vfork();
	if (child == 0) {
		signal(SIGUSR1, SIG_DFL); /* NOLINT(clang-analyzer-unix.Vfork): shells do it */
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	waitpid(child, NULL, 0);
	raise(SIGUSR1);
	return handled == 1 ? 0 : 10;
}

/* The parent ignores the signal. The child sets another action, fails one exec, and executes with
 * its own action. */
static int other_action_after_vfork(void)
{
	int status = -1;
	pid_t child;

	signal(SIGUSR1, SIG_IGN);
	child = vfork();
	if (child == 0) {
		signal(SIGUSR1, SIG_DFL); /* NOLINT(clang-analyzer-unix.Vfork): shells do it */
		execl("/nowhere", "nowhere", NULL);
		execl("/bin/sh", "sh", "-c", "kill -USR1 $$; sleep 1", NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1 ? 0 : 13;
}

/* A child of clone, unknown to the C library, sees its parent's actions until it sets its own. */
static int actions_after_clone(void)
{
	int status = -1;
	pid_t child;

	signal(SIGUSR1, handler);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		struct sigaction now;

		if (signal(SIGUSR1, SIG_IGN) != handler)
			_exit(1);
		if (sigaction(SIGUSR1, NULL, &now) != 0 || now.sa_handler != SIG_IGN)
			_exit(2);
		_exit(signal(SIGUSR1, handler) == SIG_IGN ? 0 : 3);
	}
	waitpid(child, &status, 0);
	return status == 0 ? 0 : 14;
}

/* What the program told siginterrupt holds for a later call of signal. */
static int interrupted(void)
{
	struct sigaction now;

	siginterrupt(SIGUSR1, 1);
	signal(SIGUSR1, handler);
	sigaction(SIGUSR1, NULL, &now);
	if (now.sa_flags & SA_RESTART)
		return 15;
	siginterrupt(SIGUSR1, 0);
	signal(SIGUSR1, handler);
	sigaction(SIGUSR1, NULL, &now);
	return now.sa_flags & SA_RESTART ? 0 : 16;
}

static void *sets(void *argument)
{
	while (!stop)
		signal(SIGUSR1, handler);
	return argument;
}

/* A child can set the action even if another thread was setting it during the fork. */
static int fork_while_setting(void)
{
	pthread_t thread;
	int status = 0;

	if (pthread_create(&thread, NULL, sets, NULL) != 0)
		return 11;
	for (int i = 0; i < 300 && status == 0; i++) {
		pid_t child = fork();

		if (child == 0) {
			signal(SIGUSR1, SIG_IGN);
			_exit(0);
		}
		waitpid(child, &status, 0);
	}
	stop = 1;
	pthread_join(thread, NULL);
	return status;
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";

	if (strcmp(how, "siginfo") == 0)
		return with_siginfo();
	if (strcmp(how, "vfork") == 0)
		return reset_after_vfork();
	if (strcmp(how, "fork") == 0)
		return fork_while_setting();
	if (strcmp(how, "vfork-ignored") == 0)
		return other_action_after_vfork();
	if (strcmp(how, "clone") == 0)
		return actions_after_clone();
	if (strcmp(how, "siginterrupt") == 0)
		return interrupted();
	return 2;
}
