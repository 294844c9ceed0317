/* copies.c HOW - dumps with kinds by a copy of the process, in programs that look at children.
 *
 *   namespace   children shall be in a new PID namespace; forks after the dump. Ends with 77 if the
 *               system refuses the namespace
 *   reaper      another thread waits for all kinds of children. Dumps three times */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept;

static void *reap(void *unused)
{
	for (;;)
		if (waitpid(-1, NULL, __WALL) < 0)
			usleep(100);
	return unused;
}

static int use_namespace(void)
{
	pid_t child;
	int status;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0 && unshare(CLONE_NEWPID) != 0)
		return 77;
	raise(SIGUSR1);
	child = fork();
	if (child == 0)
		_exit(getpid() == 1 ? 3 : 4);
	return child > 0 && waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 5;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	kept = malloc(100);
	kept = NULL;
	if (argc > 1 && strcmp(argv[1], "namespace") == 0)
		return use_namespace();
	if (pthread_create(&thread, NULL, reap, NULL) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	return 0;
}
