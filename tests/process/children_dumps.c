/* children_dumps.c HOW - forks a child that keeps blocks of its own, or none. The child may dump by
 * a signal or fork again. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/noinline.h"

static void *volatile kept[20];

static NOINLINE void allocate(int from, int count)
{
	for (int i = from; i < from + count; i++)
		kept[i] = malloc(1000);
}

static NOINLINE void only_child(void)
{
	kept[19] = malloc(5000);
}

static NOINLINE void grow(void)
{
	kept[0] = realloc(kept[0], 3000);
}

static bool is(const char *how, const char *name)
{
	return strcmp(how, name) == 0;
}

/* Ends the child in the way HOW, after it has allocated at its parent's call site. */
static void end_child(const char *how)
{
	if (is(how, "other"))
		only_child();
	if (is(how, "grown"))
		grow();
	for (int i = 0; is(how, "freed") && i < 10; i++)
		free(kept[i]);
	if (is(how, "signal"))
		raise(SIGUSR1);
	if (is(how, "at_once"))
		_exit(0);
	exit(0);
}

/* Forks 81 children. The last child keeps a block at a call site of its own. */
static int many(void)
{
	for (int i = 0; i <= 80; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (i < 80)
				allocate(5, 1);
			else
				only_child();
			exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

/* Allocates 5 blocks in the parent, 2 blocks in the child at the same call site, and 1 block in the
 * child's own child, or none. */
int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	const bool allocates =
	        !is(how, "other") && !is(how, "grown") && !is(how, "none") && !is(how, "at_once");
	static const int counts[] = {5, 2, 1};

	if (is(how, "many"))
		return many();
	for (int generation = 0;; generation++) {
		int status;
		pid_t pid;

		__asm__ volatile("" : "+r"(generation)); /* keeps one call of allocate */
		if (generation == 0 || allocates)
			allocate(generation * 5, counts[generation]);
		if (generation == 2)
			raise(SIGUSR1);
		if (generation == 2 || (generation == 1 && !is(how, "twice")))
			end_child(how);
		pid = fork();
		if (pid != 0)
			return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
	}
}
