/* fail_next.c - makes each function that allocates fail once, and compares how it fails with what
 * its manual page says.  Prints the names of functions that fail in another way. */
#include "leakwrap.h"

#include <argz.h>
#include <dirent.h>
#include <envz.h>
#include <errno.h>
#include <execinfo.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static int wrong;

/* EXPRESSION: the function fails as documented.  WITH: the errno that it leaves. */
#define CHECK(name, expression, with)                                        \
	do {                                                                 \
		leakwrap_fail_next(1);                                       \
		errno = 0;                                                   \
		if (!(expression) || (with) != errno) {                      \
			printf("%s fails wrongly, errno %d\n", name, errno); \
			wrong++;                                             \
		}                                                            \
		leakwrap_fail_next(0);                                       \
	} while (0)

static void check_allocator(void)
{
	char *block = malloc(10), *volatile array = malloc(10);
	char *volatile kept = block;
	void *aligned = block;

	strcpy(block, "kept");
	CHECK("malloc", !malloc(10), ENOMEM);
	CHECK("calloc", !calloc(2, 10), ENOMEM);
	CHECK("realloc", !realloc(kept, 1000) && strcmp(block, "kept") == 0, ENOMEM);
	CHECK("realloc of NULL", !realloc(NULL, 1000), ENOMEM);
	CHECK("reallocarray", !reallocarray(array, 10, 100), ENOMEM);
	CHECK("memalign", !memalign(64, 10), ENOMEM);
	CHECK("aligned_alloc", !aligned_alloc(64, 64), ENOMEM);
	CHECK("valloc", !valloc(10), ENOMEM);
	CHECK("pvalloc", !pvalloc(10), ENOMEM);
	CHECK("posix_memalign", posix_memalign(&aligned, 64, 10) == ENOMEM && aligned == block,
	      errno);
	free(block);
	free(array);
}

static void check_strings(void)
{
	char *text = NULL;

	CHECK("strdup", !strdup("text"), ENOMEM);
	CHECK("strndup", !strndup("text", 2), ENOMEM);
	CHECK("wcsdup", !wcsdup(L"text"), ENOMEM);
	CHECK("asprintf", asprintf(&text, "%d", 1) == -1, ENOMEM);
	CHECK("realpath", !realpath("/", NULL), ENOMEM);
	CHECK("canonicalize_file_name", !canonicalize_file_name("/"), ENOMEM);
	CHECK("getcwd", !getcwd(NULL, 0), ENOMEM);
	CHECK("get_current_dir_name", !get_current_dir_name(), ENOMEM);
	CHECK("tempnam", !tempnam("/tmp", "x"), ENOMEM);
}

static void check_lists(void)
{
	struct dirent **entries;
	void *addresses[1] = {(void *)strlen};
	char *vector = NULL, *words[] = {"a", "b", NULL}, *line = NULL, *text;
	size_t length = 0, capacity = 0, size;
	FILE *file = fopen("/proc/self/maps", "r");

	CHECK("scandir", scandir("/", &entries, NULL, NULL) == -1, ENOMEM);
	CHECK("backtrace_symbols", !backtrace_symbols(addresses, 1), ENOMEM);
	CHECK("argz_create", argz_create(words, &vector, &length) == ENOMEM, ENOMEM);
	CHECK("argz_add", argz_add(&vector, &length, "c") == ENOMEM && !vector, ENOMEM);
	CHECK("envz_add", envz_add(&vector, &length, "c", "d") == ENOMEM && !vector, ENOMEM);
	CHECK("getline", getline(&line, &capacity, file) == -1 && !line, ENOMEM);
	CHECK("getdelim", getdelim(&line, &capacity, ' ', file) == -1 && !line, ENOMEM);
	CHECK("open_memstream", !open_memstream(&text, &size), ENOMEM);
	fclose(file);
}

/* Allocates, and frees again.  Returns whether there was memory. */
static int has_memory(size_t size)
{
	void *block = malloc(size);

	free(block);
	return block != NULL;
}

/* What a disabled thread allocates, a resize to 0 bytes, and allocations after the failures that
 * were asked for do not fail. */
static void check_what_does_not_fail(void)
{
	void *block = malloc(10), *resized;

	leakwrap_fail_next(1);
	leakwrap_disable();
	wrong += !has_memory(20);
	leakwrap_enable();
	resized = realloc(block, 0); /* frees */
	wrong += resized != NULL;
	free(resized);
	wrong += has_memory(10);
	wrong += !has_memory(10);
	leakwrap_fail_next(1);
	leakwrap_fail_next(0);
	wrong += !has_memory(10);
}

int main(void)
{
	check_allocator();
	check_strings();
	check_lists();
	check_what_does_not_fail();
	return wrong;
}
