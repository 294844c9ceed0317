/* stacks.c - takes backtraces on unusual stacks: signal handlers, alternate stacks, coroutines,
 * plugins that come and go, frames of every size; and on stacks full of garbage.
 *
 * stacks PLUGIN PLUGIN: compares with libgcc. stacks garbage COUNT: walks garbage, and must not
 * crash. */
#include "compare.h"
#include "tests/noinline.h"
#include "tests/random.h"
#include "wrap/record/record.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/return_address.h"
#include "wrap/unwind/unwind.h"
#include "wrap/unwind/walk_rules.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int sink;

/* -- frames ------------------------------------------------------------------------------------ */

static NOINLINE void use(volatile char *bytes)
{
	bytes[0] = 1;
	compare_here();
	sink += bytes[0];
}

static NOINLINE void small_frame(void)
{
	volatile char bytes[1];

	use(bytes);
}

static NOINLINE void large_frame(void)
{
	volatile char bytes[300000]; /* more than a slot of the rule cache can hold */

	bytes[sizeof(bytes) - 1] = 0;
	use(bytes);
}

static NOINLINE void changing_frame(unsigned size)
{
	use(alloca(size));
}

static NOINLINE void realigned_frame(void)
{
	volatile char __attribute__((aligned(64))) bytes[64];

	use(bytes);
}

static NOINLINE void all_frames(void)
{
	for (unsigned i = 0; i < 3; i++) { /* from the second time on by the rule cache */
		small_frame();
		large_frame();
		changing_frame(10 + i / 2 * 1000);
		realigned_frame();
	}
}

static NOINLINE int recurse(int depth)
{
	if (depth == 0)
		compare_here();
	else
		sink += recurse(depth - 1);
	return sink;
}

/* -- signals ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;

/* Raises a signal in the handler of another signal. */
static void on_outer_signal(int number)
{
	(void)number;
	raise(SIGUSR1);
	recurse(2);
}

static void on_signal(int number)
{
	(void)number;
	signals++;
	all_frames();
}

static NOINLINE void use_handler(int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 3; i++)
		raise(SIGUSR1);
	raise(SIGUSR1);
	action.sa_handler = on_outer_signal;
	action.sa_flags = flags ^ SA_ONSTACK;
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
}

static NOINLINE void use_alternate_stack(void)
{
	static char stack[1 << 19];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	stack_t none = {.ss_flags = SS_DISABLE};

	sigaltstack(&alternate, NULL);
	use_handler(SA_ONSTACK);
	sigaltstack(&none, NULL);
}

static __attribute__((unused)) void compare_in_handler(int number)
{
	(void)number;
	signals++;
	compare_here();
}

/* Sends signals at any instruction, in the walk itself, too. */
static __attribute__((unused)) NOINLINE void use_timer(void)
{
	struct sigaction action = {.sa_handler = compare_in_handler, .sa_flags = SA_RESTART};
	struct itimerval timer = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
	struct timespec now;
	sig_atomic_t start;

	/* The loader finds the function now.  While it does, AArch64's linkage table has 16 bytes
	 * on the stack of which the loader's unwind tables do not know. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	sigaction(SIGPROF, &action, NULL);
	start = signals;
	setitimer(ITIMER_PROF, &timer, NULL);
	while (signals - start < 50)
		recurse(20);
	/* These interrupt the kernel's code (the vdso), which a program enters without a system
	 * call. */
	while (signals - start < 100) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		sink += (int)now.tv_nsec;
	}
	setitimer(ITIMER_PROF, &off, NULL);
}

static NOINLINE void record_this_stack(void)
{
	static _Alignas(64) char block[64];

	leakwrap_begin_allocation();
	leakwrap_record_allocation(block, 1, LEAKWRAP_CALLER);
	leakwrap_end_release(leakwrap_begin_release(block, 0));
}

/* A handler leaves the walk that it interrupted by longjmp. The next walks must be right. */
static sigjmp_buf jump;

static void leave(int number)
{
	(void)number;
	signals++;
	siglongjmp(jump, 1);
}

static NOINLINE void use_longjmp(void)
{
	struct sigaction action = {.sa_handler = leave};
	struct itimerval timer = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};

	sigaction(SIGPROF, &action, NULL);
	for (volatile int i = 0; i < 60; i++) {
		if (sigsetjmp(jump, 1) == 0) {
			setitimer(ITIMER_PROF, &timer, NULL);
			for (;;)
				record_this_stack();
		}
		setitimer(ITIMER_PROF, &off, NULL);
		recurse(5);
		recurse(5);
	}
}

/* -- linkage tables ---------------------------------------------------------------------------- */

#ifdef __aarch64__
/* A signal may come in an entry of the linkage table, which has no unwind tables. The caller has
 * its frame record where sp points to. */
static NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void use_linkage_table(void)
{
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs, .max = LEAKWRAP_MAX_DEPTH};
	struct leakwrap_regs start = {0};
	struct leakwrap_stack stack;

	__asm__ volatile("mov x0, sp\n\tmov x1, xzr\n\tmov x2, xzr\n\tbl memset\n\t"
	                 "mov %0, x30\n\tmov %1, sp\n\tmov %2, x29"
	                 : "=r"(start.lr), "=r"(start.sp), "=r"(start.fp)
	                 :
	                 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
	                   "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x30", "memory", "cc");
	stack = leakwrap_stack_at(start.sp);
	if (!leakwrap_is_return(start.lr, &start.pc))
		abort();
	leakwrap_unwind_interrupted(&trace, &stack, &start);
	if (trace.kind != LEAKWRAP_TRACE_COMPLETE || trace.depth < 4 || pcs[0] != start.pc ||
	    pcs[1] != start.lr || pcs[2] != (uintptr_t)__builtin_return_address(0)) {
		puts("the walk from an entry of the linkage table is wrong");
		abort();
	}
}
#endif

/* -- jumps ------------------------------------------------------------------------------------- */

static jmp_buf out;

static NOINLINE _Noreturn void never_returns(int value)
{
	recurse(3);
	longjmp(out, value);
}

/* The call is the last instruction, so its return address belongs to the next function. */
static NOINLINE _Noreturn void ends_with_call(int value)
{
	never_returns(value + 1);
}

static NOINLINE void comes_next(void)
{
	all_frames();
}

static NOINLINE __attribute__((cold)) void seldom(int value)
{
	volatile char bytes[100];

	bytes[(unsigned)value % 100] = 1;
	use(bytes);
}

/* The compiler puts the unlikely part into another section, with tables of its own. */
static NOINLINE void is_split(int value)
{
	volatile int values[8] = {value};

	if (__builtin_expect(values[0] > 1, 0)) {
		seldom(values[0]);
		values[1] = recurse(values[0]);
		seldom(values[0] + values[1]);
	}
	sink += values[0];
}

static NOINLINE void use_jumps(void)
{
	for (volatile int i = 0; i < 5; i++) {
		if (setjmp(out) == 0)
			ends_with_call(i);
		recurse(4);
		comes_next();
		is_split(i);
	}
}

/* -- other stacks ------------------------------------------------------------------------------ */

static ucontext_t main_context, coroutine_context;

static void coroutine(void)
{
	all_frames();
	swapcontext(&coroutine_context, &main_context);
	recurse(10);
}

static NOINLINE void use_coroutines(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = 1 << 19;

	for (int i = 0; i < 20; i++) {
		char *pages =
		        mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		mprotect(pages + page, size, PROT_READ | PROT_WRITE);
		getcontext(&coroutine_context);
		coroutine_context.uc_stack.ss_sp = pages + page;
		coroutine_context.uc_stack.ss_size = size;
		coroutine_context.uc_link = &main_context;
		makecontext(&coroutine_context, coroutine, 0);
		swapcontext(&main_context, &coroutine_context);
		recurse(3);
		swapcontext(&main_context, &coroutine_context);
		munmap(pages, size + 2 * page);
	}
}

static void *in_thread(void *depth)
{
	recurse((int)(intptr_t)depth);
	recurse((int)(intptr_t)depth);
	all_frames();
	return NULL;
}

static NOINLINE void use_threads(void)
{
	for (int i = 0; i < 100; i++) {
		pthread_t threads[4];

		for (int t = 0; t < 4; t++)
			if (pthread_create(&threads[t], NULL, in_thread,
			                   (void *)(intptr_t)(i % 10 + t)) != 0)
				abort();
		for (int t = 0; t < 4; t++)
			pthread_join(threads[t], NULL);
	}
}

static NOINLINE void use_fork(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		recurse(7);
		use_threads();
		_exit(compare_report() ? 0 : 1);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		abort();
}

/* Two plugins, whose functions have frames of different sizes, take the same place in turn. */
static NOINLINE void use_plugins(char **paths)
{
	for (int i = 0; i < 6; i++) {
		void *plugin = dlopen(paths[i % 2], RTLD_NOW);
		void (*call)(void (*)(void)) = NULL;

		if (!plugin) {
			puts(dlerror());
			abort();
		}
		*(void **)&call = dlsym(plugin, "call");
		leakwrap_modules_refresh();
		for (int n = 0; n < 3; n++)
			call(compare_here);
		dlclose(plugin);
		leakwrap_modules_refresh();
	}
}

/* -- garbage ----------------------------------------------------------------------------------- */

static uint64_t random_number(void)
{
	static uint64_t state;

	return draw_random(&state);
}

static uintptr_t random_code(void)
{
	const struct leakwrap_modules *modules = leakwrap_modules();
	const struct leakwrap_module *module = modules->module[random_number() % modules->count];

	return module->text[0].start +
	       random_number() % (module->text[0].end - module->text[0].start + 8);
}

static uintptr_t random_word(uintptr_t start, size_t size)
{
	switch (random_number() % 8) {
	case 0:
		return random_number();
	case 1:
		return random_number() % 4096;
	case 2: /* anywhere near the stack, even in the pages that cannot be read */
		return (start + random_number() % (2 * size) - size / 2) & ~(uintptr_t)7;
	case 3:
		return start + random_number() % size;
	case 4:
	case 5:
		return (start + random_number() % size) & ~(uintptr_t)7;
	default:
		return random_code();
	}
}

/* Walks from a place in the given pages, from a place behind them, or on this stack. */
static NOINLINE int walk_garbage(uintptr_t start, size_t size)
{
	static _Alignas(64) char block[64];
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs,
	                               .max = 1 + (unsigned)(random_number() % LEAKWRAP_MAX_DEPTH)};
	struct leakwrap_caller caller = {.pc = random_code()};
	struct leakwrap_stack stack;

	caller.sp = random_word(start, size);
	caller.fp = random_word(start, size);
	if (random_number() % 8 == 0)
		caller.sp = (uintptr_t)__builtin_frame_address(0) + random_number() % 64 * 8;
	stack = leakwrap_stack_at(caller.sp);
	leakwrap_walk_rules(&trace, &stack, &caller);
	if (leakwrap_readable(caller.sp - 1)) { /* as below every caller */
		leakwrap_begin_allocation();
		leakwrap_record_allocation(block, 1, caller);
		leakwrap_end_release(leakwrap_begin_release(block, 0));
	}
	if (trace.depth == 0 || trace.depth > trace.max)
		return 1;
	for (unsigned i = 1; i < trace.depth; i++)
		/* Data may look like code that was generated at run time. */
		if (!leakwrap_module_at(pcs[i]) && !leakwrap_module_at(pcs[i] - 1) &&
		    trace.kind != LEAKWRAP_TRACE_GUESSED)
			return 1;
	return 0;
}

/* Returns whether words below SP have positions. */
static int is_position_below(uintptr_t sp)
{
	for (uintptr_t below = UINTPTR_MAX / 2 + 1; below >= sizeof(sp); below /= 2)
		if (below < sp &&
		    leakwrap_stack_position_of(sp - below, sp) != LEAKWRAP_STACK_POSITION_NONE)
			return 1;
	return 0;
}

static int test_garbage(unsigned long count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = 4 * page;
	char *pages = mmap(NULL, 3 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t start = (uintptr_t)pages + size;

	leakwrap_modules_refresh();
	if (pages == MAP_FAILED)
		return 1;
	if (is_position_below(start)) {
		printf("a word below sp has a position\n");
		return 1;
	}
	alarm(100); /* ends an endless loop */
	for (unsigned long i = 0; i < count; i++) {
		uintptr_t *words = (uintptr_t *)start;

		mprotect(words, size, PROT_READ | PROT_WRITE);
		for (size_t w = 0; w < size / sizeof(*words); w++)
			words[w] = random_word(start, size);
		/* Some stacks have holes inside. */
		if (i % 4 == 0)
			mprotect((char *)words + page * (random_number() % 4), page, PROT_NONE);
		for (int n = 0; n < 20; n++)
			if (walk_garbage(start, size)) {
				printf("garbage %lu gave a bad trace\n", i);
				return 1;
			}
	}
	munmap(pages, 3 * size);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "garbage") == 0)
		return test_garbage(strtoul(argv[2], NULL, 10));
	compare_start();
	all_frames();
	recurse(100);
	use_handler(0);
	use_handler(SA_SIGINFO | SA_NODEFER);
	use_alternate_stack();
#ifndef __arm__ /* its tables describe calls, and nothing right within a prologue */
	use_timer();
#endif
#ifdef __aarch64__
	use_linkage_table();
#endif
	use_jumps();
	use_longjmp();
	use_coroutines();
	use_threads();
	use_fork();
	if (strcmp(argv[1], "none") != 0)
		use_plugins(argv + 1);
	return compare_report() ? 0 : 1;
}
