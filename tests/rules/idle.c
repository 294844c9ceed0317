/* idle.c pause|read|sleep - an idle process: holds one block, waits, and says how the wait ended. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept;

int main(int argc, char **argv)
{
	struct timespec minute = {.tv_sec = 60};
	const char *how = argc == 2 ? argv[1] : "";
	char byte;
	long got;

	kept = malloc(123);
	puts("waiting");
	fflush(stdout);
	errno = 0;
	if (strcmp(how, "pause") == 0)
		got = pause();
	else if (strcmp(how, "sleep") == 0)
		got = nanosleep(&minute, NULL);
	else
		got = read(STDIN_FILENO, &byte, 1);
	printf("%ld %s\n", got, errno == EINTR ? "interrupted" : strerror(errno));
	return 0;
}
