/* transparent.c - prints the result, errno, alignment and contents of every allocator call. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/noinline.h"

/* Volatile, so that the compiler neither knows the sizes nor removes the calls. */
static volatile size_t zero = 0, one = 1, small = 40, half = SIZE_MAX / 2 + 2;

/* Half of the addresses of 32 bits may well be free. */
static volatile size_t huge = sizeof(size_t) == 4 ? SIZE_MAX / 16 * 15 : (size_t)PTRDIFF_MAX - 4096;

static void *volatile kept[16];

static void say(const char *what, const void *block, size_t align)
{
	int error = errno;

	printf("%s: %s, errno %d, aligned %d\n", what, block ? "block" : "NULL", error,
	       (uintptr_t)block % align == 0);
	errno = 77; /* a call that succeeds must leave it alone */
}

static NOINLINE void *empty(void)
{
	return malloc(zero);
}

static NOINLINE void *survivor(void)
{
	return malloc(small);
}

static NOINLINE void *resized_to_nothing(void)
{
	return malloc(small);
}

static NOINLINE void failing(void)
{
	char *block = survivor();
	void *more;

	memcpy(block, "still here", 11);
	errno = 77;
	more = realloc(block, huge);
	say("realloc, too much", more, 1);
	printf("the old block says: %s\n", block);
	kept[0] = block;
}

static NOINLINE void to_nothing(void)
{
	void *block = resized_to_nothing();

	errno = 77;
	block = realloc(block, zero);
	say("realloc to 0", block, 1);
	free(block);
}

static void on_usr1(int number)
{
	(void)number;
}

int main(void)
{
	struct sigaction action;
	sigset_t mask;
	void *block;
	int status;

	sigaction(SIGUSR1, NULL, &action);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	printf("SIGUSR1: default %d, blocked %d\n", action.sa_handler == SIG_DFL,
	       sigismember(&mask, SIGUSR1));
	action.sa_handler = on_usr1;
	action.sa_flags = SA_NODEFER;
	sigaddset(&action.sa_mask, SIGHUP);
	sigaction(SIGUSR1, &action, NULL);
	memset(&action, 0, sizeof(action));
	sigaction(SIGUSR1, NULL, &action);
	printf("SIGUSR1: own %d, flags %#x, masks SIGHUP %d\n", action.sa_handler == on_usr1,
	       (unsigned)action.sa_flags & ~0x04000000u, sigismember(&action.sa_mask, SIGHUP));
	printf("lowest free descriptor: %d\n", dup(0));

	errno = 77;
	kept[1] = empty();
	say("malloc(0)", kept[1], 16);
	block = malloc(huge);
	say("malloc, too much", block, 1);
	block = calloc(half, 2);
	say("calloc, overflow", block, 1);
	block = calloc(zero, small);
	say("calloc(0, n)", block, 16);
	free(block);
	say("free", NULL, 1);
	free(NULL);
	say("free(NULL)", NULL, 1);
	block = realloc(NULL, small);
	say("realloc(NULL)", block, 16);
	block = realloc(block, one);
	say("realloc, smaller", block, 16);
	free(block);
	failing();
	to_nothing();
	block = reallocarray(NULL, half, 2);
	say("reallocarray, overflow", block, 1);
	block = aligned_alloc(4096, 4096);
	say("aligned_alloc", block, 4096);
	free(block);
	block = NULL;
	status = posix_memalign(&block, 3, small);
	printf("posix_memalign, bad alignment: %d\n", status);
	say("posix_memalign, bad alignment", block, 1);
	status = posix_memalign(&block, 1024, small);
	printf("posix_memalign: %d\n", status);
	say("posix_memalign", block, 1024);
	free(block);
	block = memalign(256, small);
	say("memalign", block, 256);
	printf("usable: %d\n", malloc_usable_size(block) >= small);
	free(block);
	say("free", NULL, 1);
	return 5;
}
