/* own_stacks.c - gives threads stacks of the program's own, with a guard page at the lower end.
 * When the threads have ended, the program keeps blocks in that memory. */
#include "leakwrap.h"
#include "tests/noinline.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACKS = 4, SIZE = 256 * 1024, BLOCK = 100 };

static void *allocate(void *nothing)
{
	free(malloc(1000)); /* else the tracer does not know where the thread's stack ends */
	return nothing;
}

/* Returns the memory of a stack whose thread has ended, or NULL. */
static char *leave_stack(void)
{
	char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	if (stack == MAP_FAILED || mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) != 0 ||
	    pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstack(&attributes, stack, SIZE) != 0 ||
	    pthread_create(&thread, &attributes, allocate, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0)
		return NULL;
	return stack;
}

static NOINLINE void keep(char *memory)
{
	*(void **)(memory + SIZE / 2) = calloc(1, BLOCK);
}

int main(void)
{
	char *stack;

	for (unsigned i = 0; i < STACKS; i++) {
		stack = leave_stack();
		if (!stack)
			return 1;
		keep(stack);
	}
	return leakwrap_dump(-1) == 0 ? 0 : 2;
}
