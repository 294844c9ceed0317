/* torture.c - a program with a bug on each of some error paths. The arguments choose the bugs;
 * without arguments every failure is handled well. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/clear_stack.h"

void *library_open(int has_bug); /* torture_library.c */
void library_close(void *opened);

static const char *bugs = "";

static int has_bug(const char *name)
{
	return strstr(bugs, name) != NULL;
}

void *volatile kept; /* keeps a block reachable */

/* Loses the first block if there is none for the second, or keeps it. */
static NOINLINE int leak_on_error(void)
{
	char *first = malloc(40), *second;

	if (!first)
		return 0;
	second = malloc(50);
	if (!second) {
		if (has_bug("keep"))
			kept = first;
		else if (!has_bug("leak"))
			free(first);
		return 0;
	}
	free(second);
	free(first);
	return 1;
}

/* Frees a block twice if it cannot grow. */
static NOINLINE int free_twice(void)
{
	char *block = malloc(60), *larger;

	if (!block)
		return 0;
	larger = realloc(block, 6000);
	if (!larger) {
		free(block);
		if (has_bug("twice"))
			free(block); /* cppcheck-suppress doubleFree; it is the bug */
		return 0;
	}
	free(larger);
	return 1;
}

/* Writes to NULL. */
static NOINLINE int write_to_null(void)
{
	char *text = strdup("a text");

	if (!text && has_bug("killed"))
		raise(SIGTERM);
	if (!text && !has_bug("null"))
		return 0;
	text[0] = 'A'; /* NOLINT(clang-analyzer-core.NullDereference): it is the bug */
	free(text);
	return 1;
}

/* Tries again for ever. */
static NOINLINE int retry(void)
{
	static int has_failed;
	void *block = has_failed ? NULL : malloc(70);

	while (!block && has_bug("retry"))
		has_failed = 1;
	free(block);
	return block != NULL;
}

static NOINLINE int use_library(void)
{
	void *opened = library_open(has_bug("library"));

	if (!opened)
		return 0;
	library_close(opened);
	return 1;
}

/* Returns a file of which a byte has been read. */
static int read_file(const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	char byte;

	if (file < 0 || read(file, &byte, 1) != 1)
		exit(4);
	return file;
}

/* A file stays as it was where an allocation fails. */
static void check_file(int file)
{
	if (lseek(file, 0, SEEK_CUR) != 1 || fcntl(file, F_GETFD) != FD_CLOEXEC)
		abort();
}

/* The program can be ended as without the tool. */
static void check_signals(void)
{
	static const int usual[] = {SIGCHLD, SIGINT, SIGTERM};
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (sigismember(&blocked, usual[i]))
			exit(5);
}

int main(int argc, char **argv)
{
	const int file = read_file(argv[0]);
	int worked = 0;

	if (argc > 1)
		bugs = argv[1];
	check_signals();
	worked += leak_on_error();
	if (!worked && has_bug("leave")) {
		clear_stack();
		_exit(3);
	}
	worked += free_twice();
	worked += write_to_null();
	worked += retry();
	worked += use_library();
	check_file(file);
	clear_stack();
	return worked == 5 ? 0 : 3;
}
