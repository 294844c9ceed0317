/* guest.c FOLDER - a program in FOLDER that blocks the dump signal in all of its threads, and says what the process has:
 * "threads N, descriptors N, files N" before and after a dump. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile block;

static int entries_of(const char *folder)
{
	DIR *open = opendir(folder);
	int count = 0;

	if (!open)
		return -1;
	while (readdir(open))
		count++;
	closedir(open);
	return count - 2;
}

static void tell(const char *folder)
{
	/* One descriptor is that of the folder which is being read. */
	printf("threads %d, descriptors %d, files %d\n", entries_of("/proc/self/task"),
	       entries_of("/proc/self/fd") - 1, entries_of(folder));
}

static void *waits(void *barrier)
{
	pthread_barrier_wait(barrier);
	pthread_barrier_wait(barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_barrier_t barrier;
	pthread_t thread;
	sigset_t usr1, pending;

	block = malloc(10);
	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* the untraced program dies of the signal */
	tell(argv[1]);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, waits, &barrier) != 0)
		return 3;
	pthread_barrier_wait(&barrier);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1); /* the kernel joins the two */
	sigpending(&pending);
	printf("pending %d\n", sigismember(&pending, SIGUSR1));
	block = malloc(30); /* it is the dump's: there was none before */
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	sigpending(&pending);
	printf("pending %d\n", sigismember(&pending, SIGUSR1));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	free(block);
	tell(argv[1]);
	return 0;
}
