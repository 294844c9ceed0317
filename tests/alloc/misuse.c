/* misuse.c CASE - misuses its heap in one way, or uses it correctly in a way that looks like
 * misuse. */
#include "leakwrap.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/noinline.h"
#include "tests/random.h"

/* Hides a pointer from the compiler, which would warn. */
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

/* This is the process's last act, because the C library may notice the misuse, too. */
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

/* Frees many other blocks between the two frees. */
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

/* Makes a pointer into a frame that is gone, as behind a function that ends with free(local). */
static NOINLINE void leave_behind(void)
{
	char local[5000];

	memset(local, 0, sizeof(local));
	hidden = (void *)((uintptr_t)local ^ 1); /* hidden from the compiler, which would warn */
}

static NOINLINE void case_gone(void)
{
	leave_behind();
	drop_again((void *)((uintptr_t)hidden ^ 1));
}

static void *gone_in_thread(void *argument)
{
	case_gone();
	return argument;
}

static NOINLINE void case_gone_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, gone_in_thread, NULL);
	pthread_join(thread, NULL);
}

static const char *volatile literal = "literal";
static const char table[100] = "constant";
static char data[100] = "initialized";
static char zeros[100];

static NOINLINE void case_literal(void)
{
	drop_again((void *)(uintptr_t)literal);
}

static NOINLINE void case_table(void)
{
	drop_again((void *)(uintptr_t)(table + 16));
}

static NOINLINE void case_data(void)
{
	drop_again(data);
}

static NOINLINE void case_zeros(void)
{
	drop_again(zeros + 48);
}

/* Frees a variable of the C library. */
static NOINLINE void case_stream(void)
{
	drop_again(stdout);
}

static NOINLINE void case_static_realloc(void)
{
	resize_again(data);
}

/* -- correct uses of the heap ------------------------------------------------------------------ */

static void *churn(void *argument)
{
	void *block[64] = {NULL};
	uint64_t random = (uintptr_t)argument;

	for (int i = 0; i < 20000; i++) {
		const unsigned at = (unsigned)draw_random(&random);

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

/* A pool inside a block: the pool's first block has the address of the block around it. */
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
	leakwrap_record(pool, 1); /* the allocator does not know about it */
	leakwrap_forget(pool);
}

/* A pool in static memory. */
static NOINLINE void case_static_pool(void)
{
	for (int round = 0; round < 2; round++) {
		leakwrap_record(zeros, 50);
		leakwrap_record(zeros + 50, 50);
		leakwrap_forget(zeros);
		leakwrap_forget(zeros + 50);
		leakwrap_forget(zeros + 50);
	}
}

/* A library allocates, or frees and allocates again, unseen, at the same addresses. */
#ifdef WITH_LIBRARY
#include "unseen_frees.h"

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
		free(hidden); /* inside a block that is live according to the records */
	}
}

/* The library allocates a stack and other blocks around it. */
#define STACK_SIZE ((size_t)64 << 10)
#define NEIGHBOURS 40

static struct {
	void *neighbour[NEIGHBOURS];
	char *memory; /* of the stack, a page more than STACK_SIZE */
} around;

static NOINLINE void make_around(void)
{
	for (size_t i = 0; i < NEIGHBOURS; i++) {
		if (i == NEIGHBOURS / 2)
			around.memory = library_makes(STACK_SIZE + 4096);
		around.neighbour[i] = library_makes(3000);
	}
}

static NOINLINE void drop_around(void)
{
	char local[4000];

	memset(local, 0, sizeof(local));
	for (size_t i = 0; i < NEIGHBOURS; i++)
		drop_first(around.neighbour[i]);
}

static void *drop_in_thread(void *argument)
{
	drop_around();
	return argument;
}

/* A thread has a block as its stack, of whole pages or not. */
static NOINLINE void case_given_stack(void)
{
	for (uintptr_t shift = 0; shift < 2; shift++) {
		pthread_attr_t attributes;
		pthread_t thread;
		char *stack;

		make_around();
		stack = (char *)(((uintptr_t)around.memory + 4095) & ~(uintptr_t)4095) - 64 * shift;
		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, stack, STACK_SIZE);
		if (pthread_create(&thread, &attributes, drop_in_thread, NULL) != 0)
			_exit(1);
		pthread_join(thread, NULL);
		drop_first(around.memory);
	}
}

/* As above, without guard pages, so that blocks may lie right below. */
static NOINLINE void case_unguarded(void)
{
	pthread_attr_t attributes;
	pthread_t thread[4];

	pthread_attr_init(&attributes);
	pthread_attr_setguardsize(&attributes, 0);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	for (int i = 0; i < 4; i++) {
		make_around();
		if (pthread_create(&thread[i], &attributes, drop_in_thread, NULL) != 0)
			_exit(1);
		pthread_join(thread[i], NULL);
		drop_first(around.memory);
	}
}

#ifdef __GLIBC__ /* musl has no coroutines */
static ucontext_t back, routine;

static void run_routine(void)
{
	drop_around();
	swapcontext(&routine, &back);
}

static void *run_with_coroutine(void *argument)
{
	make_around();
	getcontext(&routine);
	routine.uc_stack.ss_sp = around.memory;
	routine.uc_stack.ss_size = STACK_SIZE;
	makecontext(&routine, run_routine, 0);
	swapcontext(&back, &routine);
	drop_first(around.memory); /* the former stack */
	return argument;
}

static NOINLINE void case_coroutine(void)
{
	pthread_t thread;

	run_with_coroutine(NULL);
	pthread_create(&thread, NULL, run_with_coroutine, NULL);
	pthread_join(thread, NULL);
}

#else
static NOINLINE void case_coroutine(void)
{
}
#endif

static void drop_in_handler(int signal)
{
	(void)signal;
	drop_around();
}

static void *run_with_handler(void *argument)
{
	stack_t stack = {.ss_size = STACK_SIZE}, before;

	make_around();
	stack.ss_sp = around.memory;
	sigaltstack(&stack, &before);
	signal(SIGUSR2, SIG_DFL);
	sigaction(SIGUSR2,
	          &(struct sigaction){.sa_handler = drop_in_handler, .sa_flags = SA_ONSTACK}, NULL);
	raise(SIGUSR2);
	sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
	drop_first(around.memory);
	return argument;
}

static NOINLINE void case_handler(void)
{
	pthread_t thread;

	run_with_handler(NULL);
	pthread_create(&thread, NULL, run_with_handler, NULL);
	pthread_join(thread, NULL);
}

extern char _end[]; /* from the linker: behind the last variable */

/* Blocks in the pages of the program's variables: musl adds the rest of these pages to its heap. */
static NOINLINE void case_gaps(void)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t first = (uintptr_t)data / page * page;
	const uintptr_t behind = ((uintptr_t)_end + page - 1) / page * page;
	int beside = 0;

	for (size_t i = 0; i < 2000; i++) {
		void *block = library_makes(i);

		beside += (uintptr_t)block >= first && (uintptr_t)block < behind;
		drop_first(block);
	}
	printf("%d\n", beside);
}

static void *make_in_thread(void *argument)
{
	make_around();
	return argument;
}

static NOINLINE void case_handed(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, make_in_thread, NULL);
	pthread_join(thread, NULL);
	drop_around();
	drop_first(around.memory);
}
#else
static NOINLINE void case_library(void)
{
}

#define case_given_stack case_library
#define case_unguarded   case_library
#define case_coroutine   case_library
#define case_handler     case_library
#define case_handed      case_library
#define case_gaps        case_library
#endif

static NOINLINE void case_failed(void)
{
	char *block = make(40);

	hidden = realloc(block, SIZE_MAX / 2); /* fails: the block lives on */
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
	      "...................................................................................."
	      "...."
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
	        {"double", case_double},
	        {"realloc", case_realloc},
	        {"moved", case_moved},
	        {"interior", case_interior},
	        {"unaligned", case_unaligned},
	        {"large", case_large},
	        {"stack", case_stack},
	        {"thread", case_thread},
	        {"churn", case_churn},
	        {"pool", case_pool},
	        {"failed", case_failed},
	        {"ignored", case_ignored},
	        {"strings", case_strings},
	        {"library", case_library},
	        {"late", case_late},
	        {"gone", case_gone},
	        {"gone_thread", case_gone_thread},
	        {"literal", case_literal},
	        {"table", case_table},
	        {"data", case_data},
	        {"zeros", case_zeros},
	        {"stream", case_stream},
	        {"static_realloc", case_static_realloc},
	        {"static_pool", case_static_pool},
	        {"given_stack", case_given_stack},
	        {"unguarded", case_unguarded},
	        {"coroutine", case_coroutine},
	        {"handler", case_handler},
	        {"handed", case_handed},
	        {"gaps", case_gaps},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc == 2 && strcmp(argv[1], cases[i].name) == 0)
			cases[i].run();
	return 0;
}
