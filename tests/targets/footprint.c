/* footprint.c - measures how much deeper an allocation goes on the stack, by painting it. malloc,
 * calloc, realloc, free, strdup and memalign run on a stack that the tracer has not seen. Prints
 * how many bytes they took at most, with the C library's share. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LARGE = 1 << 20, RED_ZONE = 128, LEVELS = 80 };

static const unsigned char paint = 0xa5;
static unsigned char *stack; /* the lowest address */
static void *volatile kept;
static volatile size_t deepest;

static __attribute__((noinline)) void allocate(void)
{
	void *block = malloc(100);

	block = realloc(block, 5000);
	free(block);
	kept = calloc(3, 30);
	kept = strdup("some text");
	kept = memalign(64, 70);
}

/* Paints the stack below this frame, in a loop of its own, because a function that painted would
 * have a frame there. */
static __attribute__((noinline)) void measure(void)
{
	unsigned char *here = __builtin_frame_address(0);
	size_t clean = 0;

	for (volatile unsigned char *p = stack; p < here - 512; p++)
		*p = paint;
	allocate();
	while (stack[clean] == paint)
		clean++;
	if ((size_t)(here - stack) - clean > deepest)
		deepest = (size_t)(here - stack) - clean;
}

/* Each depth is a stack of its own, up to the longest backtrace. */
static __attribute__((noinline)) void descend(unsigned level)
{
	measure();
	if (level > 0)
		descend(level - 1);
	__asm__ volatile("" ::: "memory");
}

static void *in_thread(void *argument)
{
	descend(LEVELS);
	return argument;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	stack = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, LARGE) != 0 ||
	    pthread_create(&thread, &attributes, in_thread, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	printf("%zu\n", deepest);
	return 0;
}
