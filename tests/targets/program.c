/* program.c MODE - the program that is relinked for every target. It leaks what
 * tests/targets/expected lists, in each way that a target may get wrong.
 *
 *   leaks        plants everything, asks for a dump by signal, and ends
 *   fork         the same in a child, beside what the parent has
 *   exec NAME    a dump, then /bin/echo by the function NAME of the exec family
 *   wait         takes the dump signal by sigtimedwait
 *   crash        dies in the vendor's code
 *   levels       compares leakwrap_return_address with what the compiler says
 *
 * With SMALL_LIBC it needs no threads, no posix_memalign and no asprintf. Each call that a
 * backtrace may show has a name, as in vendor.c. */
#include "leakwrap.h"
#include "vendor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME __attribute__((noinline))

/* -- leaks ------------------------------------------------------------------------------------- */

static void *volatile kept[64];
static volatile unsigned count;

/* Volatile, so that no compiler unrolls the loops, which would make call sites of its own. */
static volatile size_t five = 5, eight = 8;

static FRAME void keep(void *block)
{
	kept[count++ % 64] = block;
}

static FRAME void on_each(void *context)
{
	keep(malloc(*(size_t *)context)); /* @on-each */
}

static FRAME void *in_thread(void *argument)
{
	keep(malloc(700));      /* @thread-own */
	keep(vendor_open(701)); /* @thread-vendor */
	return argument;
}

static FRAME void plant_in_vendor(void)
{
	size_t size = 300;
	void *block;

	for (size_t i = 0; i < five; i++)
		keep(vendor_open(100)); /* @open-five */
	keep(vendor_open(101));         /* @open-one */
	keep(vendor_name("a name"));    /* @name-it */
	keep(vendor_table(10, 20));     /* @table-it */
	block = vendor_table(1, 8);     /* the next line resizes it */
	keep(vendor_grow(block, 250));  /* @grow-it */
	vendor_each(3, on_each, &size); /* @each-three */
	count++;
}

static FRAME void plant(void)
{
	void *block;

	keep(malloc(0));              /* @nothing */
	keep(strdup("twelve bytes")); /* @strdup */
	keep(calloc(3, 11));          /* @calloc */
	block = malloc(10);
	keep(realloc(block, 400000)); /* @realloc */
#ifndef SMALL_LIBC
	errno = posix_memalign(&block, 64, 640); /* @memalign */
	keep(block);

	char *text;

	if (asprintf(&text, "%d bytes", 15) < 0) /* @asprintf */
		abort();
	keep(text);
#endif
	for (size_t i = 1; i <= eight; i++)
		keep(malloc(i)); /* @small */
	for (size_t i = 0; i < 1000; i++)
		free(malloc(i));
	plant_in_vendor(); /* @plant-vendor */
#ifndef SMALL_LIBC
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, NULL) != 0 || pthread_join(thread, NULL) != 0)
		abort();
#endif
	count++;
}

/* -- processes --------------------------------------------------------------------------------- */

static FRAME void in_child(void)
{
	keep(malloc(900)); /* @in-child */
	count++;
}

static int fork_child(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		in_child(); /* @child */
		return 0;
	}
	if (waitpid(child, &status, 0) != child)
		return 2;
	return status;
}

static int execute(const char *function)
{
	const char program[] = "/bin/echo";
	char *const arguments[] = {"echo", "executed", NULL};
	char *const environment[] = {NULL};

	raise(SIGUSR1);
	if (strcmp(function, "execv") == 0)
		execv(program, arguments);
	if (strcmp(function, "execve") == 0)
		execve(program, arguments, environment);
	if (strcmp(function, "execvp") == 0)
		execvp(program, arguments);
	if (strcmp(function, "execl") == 0)
		execl(program, "echo", "executed", (char *)NULL);
	if (strcmp(function, "execlp") == 0)
		execlp(program, "echo", "executed", (char *)NULL);
	if (strcmp(function, "execle") == 0)
		execle(program, "echo", "executed", (char *)NULL, environment);
	return 3;
}

/* Takes the signal without a handler. The time limit has the size of the program's time_t. */
static int wait_for_signal(void)
{
	const struct timespec limit = {10, 0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0 || raise(SIGUSR1) != 0)
		return 4;
	if (sigtimedwait(&set, NULL, &limit) != SIGUSR1)
		return 5;
	if (sigtimedwait(&set, NULL, &(struct timespec){0, 1000}) != -1 || errno != EAGAIN)
		return 6;
	return 0;
}

/* -- levels ------------------------------------------------------------------------------------ */

static void *called_from[3]; /* of the functions below */
static int wrong;

/* Bit 0 of an ARM return address is the caller's instruction set. */
static int is_same(void *a, void *b)
{
#ifdef __arm__
	return (((uintptr_t)a ^ (uintptr_t)b) & ~(uintptr_t)1) == 0;
#else
	return a == b;
#endif
}

static FRAME void on_level(void *context)
{
	void *chain[16];
	size_t found = leakwrap_backtrace(chain, 16);

	(void)context;
	called_from[2] = __builtin_return_address(0);
	/* The call chain is main, level_zero, level_one, vendor_each, and this function. */
	wrong |= !is_same(leakwrap_return_address(0), called_from[2]);
	wrong |= !is_same(leakwrap_return_address(2), called_from[1]) << 1;
	wrong |= !is_same(leakwrap_return_address(3), called_from[0]) << 2;
	wrong |= (leakwrap_return_address(200) != NULL) << 3;
	wrong |= (found < 4) << 4;
	for (unsigned i = 0; i < 4 && i < found; i++)
		wrong |= !is_same(leakwrap_return_address(i), chain[i]) << 5;
}

static FRAME void level_one(void)
{
	called_from[1] = __builtin_return_address(0);
	vendor_each(1, on_level, NULL);
	count++;
}

static FRAME int level_zero(void)
{
	called_from[0] = __builtin_return_address(0);
	level_one();
	count++;
	return wrong;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "exec") == 0 && argc > 2)
		return execute(argv[2]);
	if (strcmp(mode, "wait") == 0)
		return wait_for_signal();
	if (strcmp(mode, "levels") == 0)
		return level_zero();
	plant(); /* @plant */
	if (strcmp(mode, "leaks") == 0) {
		printf("planted\n"); /* a static C library allocates a buffer for it */
		return raise(SIGUSR1);
	}
	if (strcmp(mode, "fork") == 0)
		return fork_child(); /* @fork */
	if (strcmp(mode, "crash") == 0)
		vendor_store((int *)(uintptr_t)16); /* @crash */
	return 9;
}
