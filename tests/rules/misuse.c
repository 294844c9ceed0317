/* misuse.c CASE - misuses its heap in one way, or does what looks like misuse and is none. */
#include "leakwrap.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* Hidden from the compiler, which would warn. */
static void *volatile hidden;

static NOINLINE void *make(size_t size)
{
	hidden = malloc(size);
	return hidden;
}

static NOINLINE void drop_first(void *block)
{
	hidden = block;
	free(hidden);
}

/* The last thing that this process does: the C library may notice, too. */
static NOINLINE void drop_again(void *pointer)
{
	hidden = pointer;
	free(hidden);
	_exit(0);
}

static NOINLINE void resize_again(void *pointer)
{
	hidden = pointer;
	hidden = realloc(hidden, 1000);
	_exit(0);
}

static NOINLINE void case_double(void)
{
	void *block = make(40);

	drop_first(block);
	drop_again(block);
}

/* Many others are freed between. */
static NOINLINE void case_late(void)
{
	void *block = make(40), *others[200];
	const size_t count = sizeof(others) / sizeof(others[0]);

	for (size_t i = 0; i < count; i++)
		others[i] = make(2000);
	drop_first(block);
	for (size_t i = 0; i < count; i++)
		drop_first(others[i]);
	drop_again(block);
}

static NOINLINE void case_realloc(void)
{
	void *block = make(40);

	drop_first(block);
	resize_again(block);
}

static NOINLINE void case_moved(void)
{
	char *block = make(40);
	char *behind = make(40);

	hidden = realloc(block, 100000); /* moves: the next block is in its way */
	if (hidden == block)
		puts("the block did not move");
	free(behind);
	drop_again(block);
}

static NOINLINE void case_interior(void)
{
	drop_again((char *)make(100) + 16);
}

static NOINLINE void case_unaligned(void)
{
	drop_again((char *)make(100) + 17);
}

static NOINLINE void case_large(void)
{
	drop_again((char *)make(10000000) + 4096);
}

static NOINLINE void case_stack(void)
{
	char local[64];

	memset(local, 0, sizeof(local));
	drop_again(local + 16);
}

static void *stack_in_thread(void *argument)
{
	case_stack();
	return argument;
}

static NOINLINE void case_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, stack_in_thread, NULL);
	pthread_join(thread, NULL);
}

/* -- no misuse ----------------------------------------------------------------------------------- */

static void *churn(void *argument)
{
	void *block[64] = {NULL};
	unsigned random = (unsigned)(size_t)argument;

	for (int i = 0; i < 20000; i++) {
		unsigned at = (random = random * 1103515245 + 12345) >> 16;

		if (at & 64) {
			block[at % 64] = realloc(block[at % 64], at % 500 + 1);
		} else {
			free(block[at % 64]);
			block[at % 64] = at & 128 ? malloc(at % 300) : memalign(64, at % 300 + 1);
		}
	}
	for (int i = 0; i < 64; i++)
		free(block[i]);
	return NULL;
}

static NOINLINE void case_churn(void)
{
	pthread_t thread[4];

	for (size_t i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, churn, (void *)(i + 1));
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

/* A pool inside a block, whose first one has the block's own address. */
static NOINLINE void case_pool(void)
{
	char *pool = make(1000);

	for (int round = 0; round < 2; round++) {
		for (size_t at = 0; at < 1000; at += 100)
			leakwrap_record(pool + at, 100);
		for (size_t at = 0; at < 1000; at += 100)
			leakwrap_forget(pool + at);
	}
	free(pool);
	leakwrap_record(pool, 1); /* of no interest to the allocator */
	leakwrap_forget(pool);
}

/* Blocks that a library allocates, or frees and allocates again, unseen: at the same addresses. */
#ifdef WITH_LIBRARY
#include "elsewhere.h"

static NOINLINE void case_library(void)
{
	for (int i = 0; i < 100; i++) {
		void *block = make(48);

		free(block);
		hidden = library_makes(48);
		free(hidden); /* at the address of a freed block */
		block = make(200);
		library_frees(block);
		library_frees(library_makes(1000));
		hidden = library_makes(64);
		free(hidden); /* inside a block that is live as far as was seen */
	}
}
#else
static NOINLINE void case_library(void)
{
}
#endif

static NOINLINE void case_failed(void)
{
	char *block = make(40);

	hidden = realloc(block, (size_t)1 << 62); /* fails: the block lives on */
	hidden = realloc(block, 41);
	free(hidden);
}

static NOINLINE void case_ignored(void)
{
	void *block = make(40);

	leakwrap_ignore(block);
	free(block);
	leakwrap_disable();
	block = make(40);
	leakwrap_enable();
	free(block);
}

static NOINLINE void case_strings(void)
{
	char *string = NULL, *line = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&string, &size);

	fputs("a line\nanother, and a much longer one, so that the buffer has to grow some times: "
	      "........................................................................................"
	      "\n",
	      file);
	fclose(file);
	free(string);
	file = fopen("/proc/self/maps", "r");
	while (getline(&line, &size, file) > 0)
		;
	fclose(file);
	free(line);
	free(strdup("text"));
	if (asprintf(&string, "%d", 4711) > 0)
		free(string);
	free(realpath(".", NULL));
	free(getcwd(NULL, 0));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
	        {"double", case_double},     {"realloc", case_realloc},     {"moved", case_moved},
	        {"interior", case_interior}, {"unaligned", case_unaligned}, {"large", case_large},
	        {"stack", case_stack},       {"thread", case_thread},       {"churn", case_churn},
	        {"pool", case_pool},         {"failed", case_failed},       {"ignored", case_ignored},
	        {"strings", case_strings},   {"library", case_library},     {"late", case_late},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc == 2 && strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	return 0;
}
