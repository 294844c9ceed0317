/* without_tables.c - has the shape of BusyBox: main calls a function that never returns. It calls,
 * through a table, a second function that never returns, which allocates again and again from
 * stacks of many shapes. Prints in how many of a thousand allocations the tracer walked the stack,
 * and leaves some blocks. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4000 };

extern _Atomic unsigned long leakwrap_walks; /* the tracer's counter of walks */

static void *volatile block;
static void *volatile kept;
static int volatile zero;

__attribute__((noinline)) static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		abort();
	return memory;
}

__attribute__((noinline)) static int compare(const void *a, const void *b)
{
	block = allocate(20);
	free(block);
	return *(const char *)a - *(const char *)b;
}

/* Allocates from stacks of DEPTH depths. Stacks of one depth differ. */
__attribute__((noinline)) static int evaluate(int depth, int way)
{
	char text[8] = "hgfedcb";
	int result = 1 + zero;

	if (depth == 0) {
		block = allocate(10);
		free(block);
		qsort(text, sizeof(text), 1, compare);
		return result + text[0];
	}
	if (way & 1)
		result += evaluate(depth - 1, way >> 1) * 3;
	else
		result -= evaluate(depth - 1, way >> 1);
	return result;
}

__attribute__((noinline)) static void leave_some(int which)
{
	kept = allocate(100 + (size_t)which);
}

__attribute__((noreturn, noinline)) static void fail(const char *word)
{
	puts(word);
	exit(3);
}

/* Ends like an applet: it never takes its frame down. */
__attribute__((noreturn)) static void interpreter(int argc, char **argv)
{
	const unsigned long before = atomic_load(&leakwrap_walks);
	unsigned long sum = 0;

	leave_some(1);
	for (int i = 0; i < ROUNDS; i++)
		sum += (unsigned long)evaluate(i % 3, i);
	leave_some(2);
	if (argc > 7)
		fail(argv[0]);
	/* evaluate allocates once, and compare each time it is called: at least seven times. */
	printf("%lu\n", (atomic_load(&leakwrap_walks) - before) * 1000 / (ROUNDS * 8UL));
	kept = (void *)sum;
	exit(0);
}

__attribute__((noreturn)) static void printer(int argc, char **argv)
{
	leave_some(argc);
	puts(argv[0]);
	exit(0);
}

static const struct {
	const char *name;
	void (*run)(int, char **);
} applets[] = {{"interpreter", interpreter}, {"printer", printer}};

__attribute__((noreturn, noinline)) static void run_applet(const char *name, int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(applets) / sizeof(applets[0]); i++)
		if (strcmp(applets[i].name, name) == 0)
			applets[i].run(argc, argv);
	fail("no such applet");
}

int main(int argc, char **argv)
{
	if (argc < 2)
		fail("which applet?");
	leave_some(0);
	run_applet(argv[1], argc, argv);
}
