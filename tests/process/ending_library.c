/* ending_library.c - a library that ends the process, or a child of it. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/clear_stack.h"

static void *volatile kept;
static int ends_in_destructor;

__attribute__((destructor)) static void end(void)
{
	if (ends_in_destructor)
		_exit(5);
}

static NOINLINE void leak(void)
{
	kept = malloc(33);
	kept = NULL;
}

void library_ends(const char *how);
void library_ends(const char *how)
{
	pid_t child = 0;

	if (strcmp(how, "_exit") == 0)
		_exit(5);
	if (strcmp(how, "_Exit") == 0)
		_Exit(5);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(5);
	if (strcmp(how, "fork") == 0 && (child = fork()) == 0) {
		leak();
		clear_stack();
		_exit(5);
	}
	if (strcmp(how, "vfork") == 0 && (child = vfork()) == 0)
		_exit(5);
	if (strstr(how, "fork") && waitpid(child, NULL, 0) < 0)
		exit(6);
	ends_in_destructor = strcmp(how, "destructor") == 0;
	exit(5);
}
