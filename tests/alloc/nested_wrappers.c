/* nested_wrappers.c - calls functions of the C library that allocate. In a static program they
 * reach malloc through other wrapped functions. Some calls never return to their wrapper. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/noinline.h"

static void *volatile kept[100];

static NOINLINE void duplicates(int i)
{
	kept[i] = strdup("seven..");
}

static NOINLINE void prints(int i)
{
	char *text;

	if (asprintf(&text, "number %03d", i) < 0)
		exit(1);
	kept[i] = text;
}

static NOINLINE void duplicates_and_frees(void)
{
	free(strdup("seven.."));
}

static NOINLINE void reads_a_line(FILE *file)
{
	char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, file) < 0)
		exit(1);
	kept[20] = line;
	printf("the line's buffer has %zu bytes\n", size);
}

static jmp_buf back;

static int leave_early(const struct dirent *entry)
{
	(void)entry;
	longjmp(back, 1);
}

static NOINLINE void after_longjmp(void)
{
	kept[30] = malloc(300);
	kept[31] = strdup("seven..");
}

static void *wait_for_a_line(void *argument)
{
	char *line = NULL;
	size_t size = 0;

	(void)!getline(&line, &size, argument);
	return NULL;
}

static NOINLINE void after_cancel(void)
{
	kept[40] = malloc(400);
	kept[41] = strdup("seven..");
}

int main(void)
{
	struct dirent **list;
	pthread_t thread;
	int ends[2];
	FILE *file;

	for (int i = 0; i < 10; i++) {
		duplicates(i);
		prints(10 + i);
		duplicates_and_frees();
	}
	file = fopen("/proc/self/status", "r");
	if (!file)
		return 1;
	reads_a_line(file);
	fclose(file);

	if (setjmp(back) == 0)
		scandir("/", &list, leave_early, alphasort);
	after_longjmp();

	if (pipe(ends) || !(file = fdopen(ends[0], "r")))
		return 1;
	pthread_create(&thread, NULL, wait_for_a_line, file);
	usleep(100000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	after_cancel();
	return 0;
}
