/* threads.c - two threads allocate, with a pipe between them. With an argument the second thread
 * does not test what strdup returns. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ends[2], has_bug;

static void *read_lines(void *nothing)
{
	char byte, *copy = strdup("what comes");

	if (copy || has_bug)
		copy[0] = 'W'; /* NOLINT(clang-analyzer-core.NullDereference): it is the bug */
	while (read(ends[0], &byte, 1) == 1)
		;
	free(copy);
	return nothing;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char *text = malloc(100);

	(void)argv;
	has_bug = argc > 1;
	if (!text || pipe(ends) != 0 || pthread_create(&thread, NULL, read_lines, NULL) != 0) {
		free(text);
		return 1;
	}
	memset(text, 'x', 100);
	if (write(ends[1], text, 100) != 100)
		return 1;
	free(text);
	text = malloc(300); /* with a pipe open */
	free(text);
	close(ends[1]);
	pthread_join(thread, NULL);
	return text ? 0 : 1;
}
