/* generated_code.c - functions without unwind tables that run where no module is.
 *
 * The program copies them into memory of its own, as a compiler does that generates code at run
 * time.  The return addresses there are in no module.  With the argument "threads", two threads do
 * so again and again, each at new addresses.  With "crash" such a function ends the program. */
#include "tests/noinline.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef void *allocator(size_t size);

#define COPIED NOINLINE __attribute__((section("copied"), used))

extern const char __start_copied[], __stop_copied[];

static _Thread_local void *volatile kept;
static jmp_buf back;

/* -- the functions that are copied: they name no variable, and no function outside ------------- */

COPIED static size_t innermost(allocator *allocate, size_t size)
{
	volatile size_t frame[3];

	frame[0] = size;
	frame[1] = (size_t)allocate(frame[0]);
	return frame[0];
}

COPIED static size_t outer(allocator *allocate, size_t size)
{
	volatile size_t frame[40];

	frame[0] = size;
	frame[1] = innermost(allocate, frame[0]);
	return frame[0];
}

/* Writes to the address SIZE, where nothing is. */
COPIED static size_t crashing(allocator *allocate, size_t size)
{
	volatile size_t frame[5];

	frame[0] = size;
	*(volatile size_t *)frame[0] = (size_t)allocate;
	return frame[0];
}

/* No path of its code leads to a return. */
COPIED static size_t endless(allocator *allocate, size_t size)
{
	volatile size_t frame[2];

	frame[0] = size;
	for (;;)
		frame[1] = (size_t)allocate(frame[0]);
	__builtin_unreachable();
}

/* ---------------------------------------------------------------------------------------------- */

/* Returns where FUNCTION lies in COPY. */
static size_t (*in_copy(char *copy, size_t (*function)(allocator *, size_t)))(allocator *, size_t)
{
	return (size_t(*)(allocator *, size_t))(copy + ((const char *)function - __start_copied));
}

/* Copies the functions into fresh memory.  Returns where they begin. */
static char *copy_functions(void)
{
	const size_t size = (uintptr_t)__stop_copied - (uintptr_t)__start_copied;
	char *const copy =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		exit(2);
	memcpy(copy, __start_copied, size);
	if (mprotect(copy, size, PROT_READ | PROT_EXEC) != 0)
		exit(3);
	__builtin___clear_cache(copy, copy + size);
	return copy;
}

NOINLINE static void *allocate(size_t size)
{
	kept = malloc(size);
	return kept;
}

/* Allocates and leaves the function that never returns. */
NOINLINE static void *allocate_and_leave(size_t size)
{
	kept = malloc(size);
	longjmp(back, 1);
}

NOINLINE static size_t call_outer(char *copy)
{
	return in_copy(copy, outer)(allocate, 11) + 1;
}

NOINLINE static size_t call_malloc(char *copy)
{
	return in_copy(copy, outer)(malloc, 22) + 1;
}

NOINLINE static size_t call_endless(char *copy)
{
	if (setjmp(back) == 0)
		in_copy(copy, endless)(allocate_and_leave, 33);
	return 1;
}

NOINLINE static size_t crash(char *copy)
{
	return in_copy(copy, crashing)(allocate, 64) + 1;
}

static void *churn(void *unused)
{
	const size_t size = (uintptr_t)__stop_copied - (uintptr_t)__start_copied;

	for (unsigned i = 0; i < 2000; i++) {
		char *const copy = copy_functions();

		in_copy(copy, outer)(allocate, 11);
		free(kept);
		kept = NULL;
		munmap(copy, size);
	}
	return unused;
}

static void churn_in_threads(void)
{
	pthread_t thread[2];

	for (unsigned i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, churn, NULL) != 0)
			exit(4);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
	char *const copy = copy_functions();

	if (argc > 1 && strcmp(argv[1], "threads") == 0) {
		churn_in_threads();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "crash") == 0)
		return (int)crash(copy);
	for (unsigned i = 0; i < 3; i++)
		call_outer(copy);
	call_malloc(copy);
	call_endless(copy);
	return 0;
}
