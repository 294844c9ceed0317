/* sharing.c HOW - sets the action of the dump signal in ways that are easily got wrong. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* A child of vfork that resets its signals before exec leaves its parent's alone. */
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

static void *sets(void *argument)
{
	while (!stop)
		signal(SIGUSR1, handler);
	return argument;
}

/* A child can set the action although another thread was setting it at the fork. */
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
	return 2;
}
