/* long_memstream.c - memory streams of all lengths that a C library may treat differently.  The
 * last one's memory stays live. */
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) char *write_bytes(size_t size)
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		exit(2);
	for (size_t i = 0; i < size; i++)
		fputc('a', stream);
	if (fclose(stream) != 0 || length != size)
		exit(1);
	return text;
}

int main(void)
{
	static const size_t sizes[] = {0, 10, 1000, 1100, 5000, 100000};
	static char *volatile kept;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		free(kept);
		kept = write_bytes(sizes[i]);
	}
	return 0;
}
