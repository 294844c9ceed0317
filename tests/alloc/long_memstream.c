/* long_memstream.c [many | stale] - memory streams of all lengths that a C library may treat
 * differently.  The last one's memory stays live.
 *
 * many: only opens some more streams than the tracer has room for.
 * stale: before the last stream, a stream is closed unseen that has the same address. */
#ifdef IS_PROGRAM_ONLY
#include <dlfcn.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#ifdef IS_PROGRAM_ONLY

enum { ROOM = 1024, TOO_MANY = 6 };

static _Noreturn void open_many(void)
{
	static char *text[ROOM + TOO_MANY];
	static size_t length[ROOM + TOO_MANY];

	for (int i = 0; i < ROOM + TOO_MANY; i++)
		if (!open_memstream(&text[i], &length[i]))
			exit(2);
	exit(0);
}

/* Returns the address that the stream had. */
static FILE *close_unseen(void)
{
	static char *text;
	static size_t length;
	FILE *const stream = open_memstream(&text, &length);
	int (*const close)(FILE *) = (int (*)(FILE *))dlsym(RTLD_DEFAULT, "fclose");

	if (!stream || close(stream) != 0)
		exit(2);
	return stream;
}

static void begin(const char *what)
{
	if (strcmp(what, "many") == 0)
		open_many();
	else if (close_unseen() != close_unseen())
		exit(3);
}

#else

static void begin(const char *what)
{
	(void)what;
}

#endif

int main(int argc, char **argv)
{
	static const size_t sizes[] = {0, 10, 1000, 1100, 5000, 100000};
	static char *volatile kept;

	if (argc > 1)
		begin(argv[1]);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		free(kept);
		kept = write_bytes(sizes[i]);
	}
	return 0;
}
