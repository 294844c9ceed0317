/* wrappers.c ROUNDS - allocates through wrappers with names like malloc, through a wrapper with
 * another name, and without any. Each round ends with a dump. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

void *volatile kept;

static void *__attribute__((noinline)) try_malloc_usable_internal(size_t size)
{
	void *block = malloc(size);
	__asm__ volatile("" : "+r"(block));
	return block;
}

void *__attribute__((noinline)) zmalloc(size_t size)
{
	void *block = try_malloc_usable_internal(size + 8);
	__asm__ volatile("" : "+r"(block));
	return block;
}

char *__attribute__((noinline)) zstrdup(const char *text)
{
	char *copy = zmalloc(strlen(text) + 1);
	return strcpy(copy, text);
}

/* Nothing in its name says that it is a wrapper. */
void *__attribute__((noinline)) obtain(size_t size)
{
	void *block = zmalloc(size);
	__asm__ volatile("" : "+r"(block));
	return block;
}

/* Only one function calls it, so its name alone does not make it a wrapper. */
void *__attribute__((noinline)) allocate_session(void)
{
	kept = zmalloc(500);
	return kept;
}

#define USER(name, call)                          \
	void __attribute__((noinline)) name(void) \
	{                                         \
		kept = call;                      \
		__asm__ volatile("" ::"r"(kept)); \
	}

USER(read_config, zstrdup("a line of the configuration"))
USER(open_table, zmalloc(3000))
USER(add_route, malloc(70))
USER(use_1, obtain(101))
USER(use_2, obtain(102))
USER(use_3, obtain(103))
USER(use_4, obtain(104))
USER(use_5, obtain(105))
USER(use_6, obtain(106))
USER(use_7, obtain(107))
USER(use_8, obtain(108))

void __attribute__((noinline)) log_in(void)
{
	kept = allocate_session();
	kept = NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0;

	read_config();
	open_table();
	add_route();
	log_in();
	use_1(), use_2(), use_3(), use_4(), use_5(), use_6(), use_7(), use_8();
	for (int i = 0; i < rounds; i++) {
		open_table();
		add_route();
		raise(SIGUSR1);
	}
	return 0;
}
