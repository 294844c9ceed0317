/* no_thread_no_descriptor.c FOLDER - blocks the dump signal in all of its threads. Before and after
 * a dump it prints "threads N, descriptors N, files N": the process's threads and descriptors, and
 * the files in FOLDER, its working folder. */
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
	/* One descriptor belongs to the folder that the program is reading. */
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
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* the signal kills the untraced program */
	tell(argv[1]);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&thread, NULL, waits, &barrier) != 0)
		return 3;
	pthread_barrier_wait(&barrier);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1); /* the kernel merges the two signals */
	sigpending(&pending);
	printf("pending %d\n", sigismember(&pending, SIGUSR1));
	block = malloc(30); /* live in the dump: the earlier signals made no dump */
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	sigpending(&pending);
	printf("pending %d\n", sigismember(&pending, SIGUSR1));
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	free(block);
	tell(argv[1]);
	return 0;
}
