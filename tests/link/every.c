/* every.c - calls every wrapped allocating function of the C library once. */
#define _GNU_SOURCE
#include <argz.h>
#include <dirent.h>
#include <envz.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "every.h"

/* Headers do not declare these. */
void cfree(void *block);
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);
char *__strdup(const char *original);
char *__strndup(const char *original, size_t max);
int __asprintf_chk(char **string, int flag, const char *format, ...);
int __vasprintf_chk(char **string, int flag, const char *format, va_list arguments);
char *__realpath_chk(const char *path, char *buffer, size_t room);
char *__getcwd_chk(char *buffer, size_t size, size_t room);

/* -- the allocator ----------------------------------------------------------------------------- */

static void by_cfree(void *block)
{
	cfree(block);
}

static void by_free_sized(void *block)
{
	free_sized(block, 40);
}

static void by_free_aligned_sized(void *block)
{
	free_aligned_sized(block, 64, 640);
}

static const char *presence(const void *block)
{
	return block ? "a block" : "NULL";
}

static void show_alignment(const void *block, uintptr_t alignment)
{
	say("aligned to %ju: %s", (uintmax_t)alignment,
	    (uintptr_t)block % alignment == 0 ? "yes" : "no");
}

CASE(malloc)
{
	keep(malloc(24), 24, free);
	keep(malloc(0), 0, free);
	keep(malloc(5000000), 5000000, free);
}

CASE(free)
{
	void *volatile block = malloc(10);

	free(block);
	free(NULL);
}

CASE(cfree)
{
	keep(malloc(30), 30, by_cfree);
}

CASE(free_sized)
{
	keep(malloc(40), 40, by_free_sized);
}

CASE(free_aligned_sized)
{
	keep(aligned_alloc(64, 640), 640, by_free_aligned_sized);
}

CASE(calloc)
{
	unsigned char *block = calloc(7, 11);
	unsigned sum = 0;

	for (int i = 0; i < 77; i++)
		sum += block[i];
	say("sum %u", sum);
	say("overflow: %s", presence(calloc(SIZE_MAX / 2, 4)));
	keep(block, 77, free);
}

CASE(realloc)
{
	char *block = realloc(NULL, 10);

	strcpy(block, "contents");
	block = realloc(block, 20000);
	say("%s", block);
	say("too much: %s", presence(realloc(block, PTRDIFF_MAX)));
	keep(block, 20000, free);
}

CASE(reallocarray)
{
	char *block = reallocarray(NULL, 3, 5);

	say("overflow: %s", presence(reallocarray(block, SIZE_MAX / 2, 4)));
	keep(reallocarray(block, 100, 30), 3000, free);
}

CASE(memalign)
{
	void *block = memalign(256, 100);

	show_alignment(block, 256);
	keep(block, 100, free);
}

CASE(aligned_alloc)
{
	void *block = aligned_alloc(128, 256);

	show_alignment(block, 128);
	keep(block, 256, free);
}

CASE(posix_memalign)
{
	void *block = NULL;

	say("bad alignment: %d", posix_memalign(&block, 3, 100));
	say("result: %d", posix_memalign(&block, 1024, 100));
	show_alignment(block, 1024);
	keep(block, 100, free);
}

CASE(valloc)
{
	void *block = valloc(100);

	show_alignment(block, 4096);
	keep(block, 100, free);
}

CASE(pvalloc)
{
	void *block = pvalloc(100);

	show_alignment(block, 4096);
	keep(block, 100, free);
}

/* -- strings ----------------------------------------------------------------------------------- */

static void keep_string(char *string)
{
	say("%s", string);
	keep(string, strlen(string) + 1, free);
}

CASE(strdup)
{
	keep_string(strdup("a string"));
}

CASE(__strdup)
{
	keep_string(__strdup("a string by another name"));
}

CASE(strndup)
{
	keep_string(strndup("a string that is cut", 8));
}

CASE(__strndup)
{
	keep_string(__strndup("a string that is cut", 12));
}

CASE(wcsdup)
{
	wchar_t *string = wcsdup(L"wide");

	say("%ls", string);
	keep(string, 5 * sizeof(wchar_t), free);
}

CASE(asprintf)
{
	char *string = NULL;

	say("%d", asprintf(&string, "number %d and %s", 42, "text"));
	keep_string(string);
}

CASE(__asprintf)
{
	char *string = NULL;

	say("%d", __asprintf(&string, "number %d", 43));
	keep_string(string);
}

CASE(__asprintf_chk)
{
	char *string = NULL;

	say("%d", __asprintf_chk(&string, 1, "number %200d", 44));
	keep_string(string);
}

static int by_va_list(int checked, char **string, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = checked ? __vasprintf_chk(string, 1, format, arguments)
	                     : vasprintf(string, format, arguments);
	va_end(arguments);
	return length;
}

CASE(vasprintf)
{
	char *string = NULL;

	by_va_list(0, &string, "%s %c", "arguments", 'x');
	say("%s", string);
	free(string);
}

CASE(__vasprintf_chk)
{
	char *string = NULL;

	by_va_list(1, &string, "%s %c", "arguments", 'y');
	say("%s", string);
	free(string);
}

/* -- lines ------------------------------------------------------------------------------------- */

static FILE *lines(void)
{
	static char text[4000] = "first\nsecond;rest\n";

	memset(text + 18, 'x', sizeof(text) - 19);
	return fmemopen(text, sizeof(text) - 1, "r");
}

CASE(getline)
{
	FILE *stream = lines();
	char *line = NULL;
	size_t capacity = 0;

	for (int i = 0; i < 4; i++)
		say("%zd", getline(&line, &capacity, stream));
	say("%zu", capacity);
	keep(line, capacity, free);
	fclose(stream);
}

CASE(getdelim)
{
	FILE *stream = lines();
	size_t capacity = 3;
	char *line = malloc(capacity);

	say("%zd", getdelim(&line, &capacity, ';', stream));
	say("%s", line);
	keep(line, capacity, free);
	fclose(stream);
}

CASE(__getdelim)
{
	FILE *stream = lines();
	char *line = NULL;
	size_t capacity = 0;

	say("%zd", __getdelim(&line, &capacity, 'c', stream));
	say("%s", line);
	keep(line, capacity, free);
	fclose(stream);
}

/* -- paths ------------------------------------------------------------------------------------- */

/* glibc before 2.33 returns the whole block in which it builds the path. */
static void keep_path(char *path)
{
#if __GLIBC_PREREQ(2, 33)
	keep_string(path);
#else
	say("%s", path);
	keep(path, PATH_MAX, free);
#endif
}

CASE(realpath)
{
	char buffer[4096];

	keep_path(realpath("/usr/../tmp/.", NULL));
	say("%s", realpath("/usr/../tmp/.", buffer));
	say("missing: %s", realpath("/nowhere/at/all", NULL) ? "a path" : "NULL");
}

CASE(__realpath_chk)
{
	char buffer[4096];

	keep_path(__realpath_chk("/usr/..", NULL, SIZE_MAX));
	say("%s", __realpath_chk("/usr/..", buffer, sizeof(buffer)));
}

CASE(canonicalize_file_name)
{
	keep_path(canonicalize_file_name("/usr/../tmp"));
}

CASE(getcwd)
{
	char buffer[4096], *path;

	keep_string(getcwd(NULL, 0));
	path = getcwd(NULL, 5000);
	say("%s", path);
	keep(path, 5000, free);
	say("%s", getcwd(buffer, sizeof(buffer)));
	say("too small: %s", getcwd(buffer, 1) ? "a path" : "NULL");
}

CASE(__getcwd_chk)
{
	char buffer[4096];

	keep_string(__getcwd_chk(NULL, 0, SIZE_MAX));
	say("%s", __getcwd_chk(buffer, sizeof(buffer), sizeof(buffer)));
}

CASE(get_current_dir_name)
{
	keep_string(get_current_dir_name());
}

CASE(tempnam)
{
	char *name = tempnam("/tmp", "every");

	say("%.10s", name);
	keep(name, strlen(name) + 1, free);
}

/* -- lists ------------------------------------------------------------------------------------- */

static int is_library(const struct dirent *entry)
{
	return strncmp(entry->d_name, "every", 5) == 0;
}

static int is_library64(const struct dirent64 *entry)
{
	return strncmp(entry->d_name, "every", 5) == 0;
}

/* The list may have more room than entries. */
#define KEEP_ENTRIES(list, count)                                             \
	do {                                                                  \
		say("%d entries, the first is %s", count, (list)[0]->d_name); \
		for (int i = 0; i < (count); i++)                             \
			keep((list)[i], (list)[i]->d_reclen, free);           \
		keep(list, (size_t)(count) * sizeof(void *), free);           \
		at_least();                                                   \
	} while (0)

CASE(scandir)
{
	struct dirent **list;
	int count = scandir("tests/link", &list, is_library, alphasort);

	KEEP_ENTRIES(list, count);
	say("missing: %d", scandir("/nowhere/at/all", &list, NULL, NULL));
}

CASE(scandir64)
{
	struct dirent64 **list;
	int count = scandir64("tests/link", &list, is_library64, alphasort64);

	KEEP_ENTRIES(list, count);
}

CASE(scandirat)
{
	struct dirent **list;
	int folder = open("tests", O_RDONLY | O_DIRECTORY);
	int count = scandirat(folder, "link", &list, is_library, alphasort);

	KEEP_ENTRIES(list, count);
	close(folder);
}

CASE(scandirat64)
{
	struct dirent64 **list;
	int count = scandirat64(AT_FDCWD, "tests/link", &list, is_library64, alphasort64);

	KEEP_ENTRIES(list, count);
}

CASE(backtrace_symbols)
{
	void *address = (void *)(uintptr_t)&run_cases;
	char **names = backtrace_symbols(&address, 1);

	say("%d", names[0][0] != '\0');
	keep(names, sizeof(char *) + 2, free); /* at least: it holds the program's path, too */
	at_least();
}

static void keep_vector(char *vector, size_t length)
{
	char shown[200];

	memcpy(shown, vector, length);
	argz_stringify(shown, length, '|');
	say("%s", shown);
	keep(vector, length, free);
}

CASE(argz_create)
{
	char one[] = "one", two[] = "two";
	char *const words[] = {one, two, NULL};
	char *vector;
	size_t length;

	argz_create(words, &vector, &length);
	keep_vector(vector, length);
}

CASE(argz_create_sep)
{
	char *vector;
	size_t length;

	argz_create_sep("one:two:three", ':', &vector, &length);
	keep_vector(vector, length);
}

CASE(argz_append)
{
	char *vector = NULL;
	size_t length = 0;

	argz_append(&vector, &length, "a\0b", 4);
	argz_append(&vector, &length, "c\0d", 4);
	keep_vector(vector, length);
}

CASE(argz_add)
{
	char *vector = NULL;
	size_t length = 0;

	argz_add(&vector, &length, "first");
	argz_add(&vector, &length, "second");
	keep_vector(vector, length);
}

CASE(argz_add_sep)
{
	char *vector = NULL;
	size_t length = 0;

	argz_add_sep(&vector, &length, "first second third", ' ');
	keep_vector(vector, length);
}

CASE(argz_insert)
{
	char *vector = NULL;
	size_t length = 0;

	argz_add(&vector, &length, "second");
	argz_insert(&vector, &length, vector, "first");
	keep_vector(vector, length);
}

CASE(argz_replace)
{
	char *vector = NULL;
	size_t length = 0;
	unsigned count = 0;

	argz_add(&vector, &length, "a word and a word");
	argz_replace(&vector, &length, "word", "sentence", &count);
	say("%u", count);
	keep_vector(vector, length);
}

CASE(argz_delete)
{
	char *vector = NULL;
	size_t length = 0;

	argz_add(&vector, &length, "alone");
	argz_delete(&vector, &length, vector);
	say("%s", vector ? "a vector" : "NULL");
}

CASE(envz_add)
{
	char *vector = NULL;
	size_t length = 0;

	envz_add(&vector, &length, "KEY", "value");
	envz_add(&vector, &length, "OTHER", "value");
	keep_vector(vector, length);
}

CASE(envz_merge)
{
	char *vector = NULL;
	size_t length = 0;

	envz_add(&vector, &length, "KEY", "old");
	envz_merge(&vector, &length, "KEY=new\0MORE=x", 15, 1);
	keep_vector(vector, length);
}

CASE(envz_remove)
{
	char *vector = NULL;
	size_t length = 0;

	envz_add(&vector, &length, "KEY", "value");
	envz_remove(&vector, &length, "KEY");
	say("%s", vector ? "a vector" : "NULL");
}

/* -- streams into memory ----------------------------------------------------------------------- */

CASE(open_memstream)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	for (int i = 0; i < 1000; i++)
		fprintf(stream, "line %d\n", i);
	fflush(stream);
	say("%zu", size);
	fprintf(stream, "end\n");
	fclose(stream);
	say("%zu %.6s", size, text);
	keep(text, size + 1, free);
}

CASE(open_wmemstream)
{
	wchar_t *text = NULL;
	size_t size = 0;
	FILE *stream = open_wmemstream(&text, &size);

	fwprintf(stream, L"wide %d", 5);
	fclose(stream);
	say("%zu %ls", size, text);
	keep(text, (size + 1) * sizeof(wchar_t), free);
}

CASE(fclose)
{
	FILE *stream = fopen("/dev/null", "w");
	int result = fclose(stream);

	say("%d", result);
}

#define ENTRY(name) #name, called_##name

static const struct case_entry cases[] = {
        {ENTRY(malloc)},
        {ENTRY(free)},
        {ENTRY(cfree)},
        {ENTRY(free_sized)},
        {ENTRY(free_aligned_sized)},
        {ENTRY(calloc)},
        {ENTRY(realloc)},
        {ENTRY(reallocarray)},
        {ENTRY(memalign)},
        {ENTRY(aligned_alloc)},
        {ENTRY(posix_memalign)},
        {ENTRY(valloc)},
        {ENTRY(pvalloc)},
        {ENTRY(strdup)},
        {ENTRY(__strdup)},
        {ENTRY(strndup)},
        {ENTRY(__strndup)},
        {ENTRY(wcsdup)},
        {ENTRY(asprintf)},
        {ENTRY(__asprintf)},
        {ENTRY(__asprintf_chk)},
        {ENTRY(vasprintf)},
        {ENTRY(__vasprintf_chk)},
        {ENTRY(getline)},
        {ENTRY(getdelim)},
        {ENTRY(__getdelim)},
        {ENTRY(realpath)},
        {ENTRY(__realpath_chk)},
        {ENTRY(canonicalize_file_name)},
        {ENTRY(getcwd)},
        {ENTRY(__getcwd_chk)},
        {ENTRY(get_current_dir_name)},
        {ENTRY(tempnam)},
        {ENTRY(scandir)},
        {ENTRY(scandir64)},
        {ENTRY(scandirat)},
        {ENTRY(scandirat64)},
        {ENTRY(backtrace_symbols)},
        {ENTRY(argz_create)},
        {ENTRY(argz_create_sep)},
        {ENTRY(argz_append)},
        {ENTRY(argz_add)},
        {ENTRY(argz_add_sep)},
        {ENTRY(argz_insert)},
        {ENTRY(argz_replace)},
        {ENTRY(argz_delete)},
        {ENTRY(envz_add)},
        {ENTRY(envz_merge)},
        {ENTRY(envz_remove)},
        {ENTRY(open_memstream)},
        {ENTRY(open_wmemstream)},
        {ENTRY(fclose)},
        {NULL, NULL},
};

int main(int argc, char **argv)
{
	return run_cases(cases, argc > 1 ? argv[1] : "leak");
}
