/* tracer_never_mallocs.c FILE - a program with threads, many sizes and dumps. FILE holds the number
 * of calls of the allocator in the whole process, up to its very end. */
#include "own_malloc.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void *volatile kept[100];

static void *work(void *argument)
{
	for (int i = 0; i < 1000; i++)
		free(malloc((size_t)i));
	return argument;
}

static void on_signal(int number)
{
	(void)number;
}

static void count_in(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT, 0600);
	unsigned long *count;

	if (file < 0 || ftruncate(file, sizeof(*count)))
		exit(2);
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (count == MAP_FAILED)
		exit(2);
	close(file);
	*count = *own_malloc_calls;
	own_malloc_calls = count;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t thread;

	if (argc != 2)
		return 2;
	count_in(argv[1]);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 100; i++)
		kept[i] = malloc((size_t)i * 100000);
	for (int i = 0; i < 4; i++) {
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
		kill(getpid(), SIGUSR1);
	}
	return 0;
}
