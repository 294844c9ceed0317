/* exit_dump_once.c HOW - leaves in one of many ways. An atexit function and a destructor free
 * blocks. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/noinline.h"

static void *for_atexit, *for_destructor, *volatile kept;

static NOINLINE void allocate(void)
{
	kept = malloc(1000);
	for_atexit = malloc(200);
	for_destructor = malloc(30);
}

static void at_exit(void)
{
	free(for_atexit);
}

__attribute__((destructor)) static void destroy(void)
{
	free(for_destructor);
}

static NOINLINE void child_allocates(void)
{
	kept = malloc(5000);
}

static void *leave_later(void *argument)
{
	usleep(100000);
	exit(7);
	return argument;
}

static int wait_for(pid_t child)
{
	int status = 0;

	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return 99;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";
	pthread_t thread;
	pid_t child;

	allocate();
	if (atexit(at_exit) || at_quick_exit(at_exit))
		return 98;
	if (strcmp(how, "exit") == 0)
		exit(7);
	if (strcmp(how, "_exit") == 0)
		_exit(7);
	if (strcmp(how, "_Exit") == 0)
		_Exit(7);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(7);
	if (strcmp(how, "pthread_exit") == 0) {
		pthread_create(&thread, NULL, leave_later, NULL);
		pthread_exit(NULL);
	}
	if (strcmp(how, "killed") == 0)
		raise(SIGKILL);
	if (strcmp(how, "fork-_exit") == 0) {
		child = fork();
		if (child == 0)
			_exit(7);
		return wait_for(child);
	}
	if (strcmp(how, "fork-malloc-_exit") == 0) {
		child = fork();
		if (child == 0) {
			child_allocates();
			_exit(7);
		}
		return wait_for(child);
	}
	if (strcmp(how, "fork-exit") == 0) {
		child = fork();
		if (child == 0)
			exit(7);
		return wait_for(child);
	}
	if (strcmp(how, "vfork-_exit") == 0) {
		child = vfork();
		if (child == 0)
			_exit(7);
		return wait_for(child);
	}
	if (strcmp(how, "vfork-exec") == 0) {
		child = vfork();
		if (child == 0) {
			execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
			_exit(1);
		}
		return wait_for(child);
	}
	if (strcmp(how, "exec") == 0) {
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
		return 1;
	}
	return 7;
}
