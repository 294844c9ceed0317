/* small_footprint.c [handler] - a thread with the smallest stack allocates and takes a dump. Prints
 * how many bytes of the interrupted stack the dump uses, found by painting the stack. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SMALL = 16384, LARGE = 1 << 20 };

static void *volatile kept;

static __attribute__((noinline)) void *in_small_room(void *argument)
{
	kept = malloc(77);
	free(malloc(10));
	raise(SIGUSR1);
	return argument;
}

static const unsigned char paint = 0xa5;

static char *stack; /* the lowest address */
static ptrdiff_t used;

/* Paints the stack below it, except for a red zone and the frame of memset, takes the signal, and
 * sets used. At the thread's end glibc 2.31 gives the painted pages back. */
static __attribute__((noinline)) void *take(void *argument)
{
	char *here = __builtin_frame_address(0);
	const unsigned char *clean = (unsigned char *)stack;

	memset(stack, paint, (size_t)(here - stack) - 1024);
	raise(SIGUSR1);
	while (*clean == paint)
		clean++;
	used = here - (const char *)clean;
	return argument;
}

static void nothing(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (argc == 2) /* measures a plain handler and the kernel's frame, without a dump */
		signal(SIGUSR1, nothing);
	(void)argv;
	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, SMALL))
		return 1;
	if (argc != 2) {
		if (pthread_create(&thread, &attributes, in_small_room, NULL))
			return 2;
		pthread_join(thread, NULL);
	}

	stack = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED)
		return 3;
	pthread_attr_setstack(&attributes, stack, LARGE);
	if (pthread_create(&thread, &attributes, take, NULL))
		return 4;
	pthread_join(thread, NULL);
	printf("%td\n", used);
	return 0;
}
