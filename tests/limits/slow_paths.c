/* slow_paths.c CASE - allocates where a tracer may need more than a look at its tables: on
 * coroutines, far down a stack, in two heaps.  Prints the tracer's walks and system calls in the
 * last 10,000 allocations.
 *
 *   coroutines   5,000 coroutines, one after the other
 *   smaller      coroutines on ever-smaller stacks at one address
 *   rooms        the same, with a larger frame of one function on the larger stack
 *   called       functions that are called on stacks of their own, two in turn
 *   callers      leaks of one function there, for two callers and in two threads
 *   far_fp       a frame pointer that leads out of a coroutine's stack, to memory that goes away
 *   shallow      with nothing special
 *   deep         5 MB on the main thread's stack between main and the caller
 *   thread       the same on another thread
 *   heaps        two heaps whose addresses differ by 64 GiB */
#include "leakwrap.h"
#include "tests/limits/endless.h"
#include "tests/limits/tracer_calls.h"
#include "tests/noinline.h"

#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

enum { TIMES = 10000 };

static void *volatile kept;
static unsigned long walks_before, calls_before;

static void begin_count(void)
{
	walks_before = walks();
	calls_before = tracer_calls;
}

static void end_count(void)
{
	printf("%lu %lu\n", walks() - walks_before, tracer_calls - calls_before);
}

static NOINLINE void pair(void)
{
	kept = malloc(100);
	free(kept);
}

static NOINLINE void pairs(void)
{
	for (int i = 0; i < TIMES; i++)
		pair();
}

static NOINLINE void leak(void)
{
	kept = malloc(1000);
}

/* -- coroutines -------------------------------------------------------------------------------- */

enum { COROUTINES = 5000 };

static ucontext_t caller, coroutine[COROUTINES];
static int running;

/* Its frame leads from one page into the next. */
static NOINLINE void cross_page(void (*call)(void))
{
	volatile char room[PAGE];

	room[0] = 1;
	call();
	room[PAGE - 1] = room[0];
}

static void run(void)
{
	for (;;) {
		if (running % 2 == 0)
			pair();
		else
			cross_page(pair);
		swapcontext(&coroutine[running], &caller);
	}
}

static void start(ucontext_t *context, char *stack, size_t size, void (*function)(void))
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = size;
	context->uc_link = &caller;
	makecontext(context, function, 0);
}

static void *map(void *at, size_t size)
{
	return mmap(at, size, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
}

static void many_coroutines(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		const size_t size = (16 << 10) + (size_t)(i % 97) * 16;

		start(&coroutine[i], i % 4 < 2 ? malloc(size) : map(NULL, size), size, run);
	}
	for (int i = 0; i < 2 * TIMES; i++) {
		if (i == TIMES)
			begin_count();
		running = i % COROUTINES;
		swapcontext(&caller, &coroutine[running]);
	}
	end_count();
}

static void leak_and_pair(void)
{
	pair();
	cross_page(pair);
	cross_page(leak);
}

/* The same function runs on a stack of 16 pages, of 15, and so on, with nothing mapped above. */
static void smaller_stacks(void)
{
	enum { PAGES = 16, LEAST = 4 };
	char *low = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin_count();
	for (int pages = PAGES; pages >= LEAST; pages--) {
		munmap(low, PAGES * PAGE);
		map(low, (size_t)pages * PAGE);
		for (int i = 0; i < 3; i++) {
			start(&coroutine[0], low, (size_t)pages * PAGE, leak_and_pair);
			swapcontext(&caller, &coroutine[0]);
		}
	}
	/* The top stays, and the stack below it is entered with less on it. */
	end_count();
}

static size_t room_size;

static NOINLINE void leak_beside_room(void)
{
	volatile char *room = alloca(room_size);

	room[0] = 1;
	kept = malloc(500);
	room[room_size - 1] = room[0];
}

static void leaks_beside_room(void)
{
	leak_beside_room();
	leak_beside_room();
}

/* The caller has the same stack pointer on both stacks, but its frame ends a page lower on the
 * second stack, below memory that cannot be read. */
static void other_rooms(void)
{
	enum { PAGES = 16 };
	char *low = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin_count();
	for (unsigned smaller = 0; smaller < 2; smaller++) {
		const unsigned pages = PAGES - smaller;

		munmap(low, PAGES * PAGE);
		map(low, pages * PAGE);
		room_size = 1000 + (1 - smaller) * PAGE;
		start(&coroutine[0], low, pages * PAGE, leaks_beside_room);
		swapcontext(&caller, &coroutine[0]);
	}
	end_count();
}

#ifdef __x86_64__

/* Calls FUNCTION with the frame pointer FP. */
void call_with_fp(const void *fp, void (*function)(void));
__asm__(".text\n"
        "call_with_fp:\n"
        "	push %rbp\n"
        "	mov %rdi, %rbp\n"
        "	call *%rsi\n"
        "	pop %rbp\n"
        "	ret\n");

/* Calls FUNCTION on the stack that ends at TOP.  Its frame leads back to this one. */
void call_on(void *top, void (*function)(void));
__asm__(".text\n"
        ".type call_on, @function\n"
        "call_on:\n"
        "	.cfi_startproc\n"
        "	push %rbp\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset rbp, -16\n"
        "	mov %rsp, %rbp\n"
        "	.cfi_def_cfa_register rbp\n"
        "	mov %rdi, %rsp\n"
        "	call *%rsi\n"
        "	leave\n"
        "	.cfi_def_cfa rsp, 8\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size call_on, . - call_on\n");

/* Returns the end of a new stack.  Stacks lie at different places in their first pages. */
static char *new_top(void)
{
	enum { ROOM = 64 << 10 };
	static _Atomic size_t stacks;
	char *const low = map(NULL, ROOM);

	return low + ROOM - 64 * stacks++;
}

static void called(void)
{
	char *const top[] = {new_top(), new_top()};

	for (int i = 0; i < 2 * TIMES; i++) {
		if (i == TIMES)
			begin_count();
		call_on(top[i % 2], pair);
	}
	end_count();
}

enum { LEAKS = 50 };

static NOINLINE void first_caller(char *top)
{
	call_on(top, leak);
}

static NOINLINE void second_caller(char *top)
{
	call_on(top, leak);
}

static NOINLINE void *call_in_turn(void *unused)
{
	char *const top[] = {new_top(), new_top()};

	for (int i = 0; i < LEAKS; i++) {
		first_caller(top[i % 2]);
		second_caller(top[i % 2]);
	}
	return unused;
}

static void callers(void)
{
	pthread_t thread;

	begin_count();
	if (pthread_create(&thread, NULL, call_in_turn, NULL) == 0)
		pthread_join(thread, NULL);
	call_in_turn(NULL);
	end_count();
}

static const void *far_frame;

static void leak_with_far_fp(void)
{
	call_with_fp(far_frame, leak);
}

static void far_fp(void)
{
	enum { PAGES = 16 };
	char *low = map(NULL, PAGE * 2 * PAGES);
	char *far = low + PAGE * (2 * PAGES - 1);
	uintptr_t *frame = (uintptr_t *)far;

	frame[1] = (uintptr_t)__builtin_return_address(0);
	far_frame = frame;
	begin_count();
	for (int i = 0; i < 6; i++) {
		if (i == 3)
			munmap(far, PAGE);
		start(&coroutine[0], low, PAGES * PAGE, leak_with_far_fp);
		swapcontext(&caller, &coroutine[0]);
	}
	end_count();
}

#else

static void far_fp(void)
{
	begin_count();
	end_count();
}

static void called(void)
{
	far_fp();
}

static void callers(void)
{
	far_fp();
}

#endif

/* -- far down the stack ------------------------------------------------------------------------ */

static NOINLINE void pairs_twice(void)
{
	pairs();
	begin_count();
	pairs();
	end_count();
}

static NOINLINE void *far_down(void *unused)
{
	enum { ROOM = 5 << 20 };
	volatile char room[ROOM];

	room[0] = room[ROOM - 1] = 1;
	pairs_twice();
	room[1] = room[0];
	return unused;
}

static void in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, far_down, NULL) == 0)
		pthread_join(thread, NULL);
}

/* -- two heaps --------------------------------------------------------------------------------- */

static void two_heaps(void)
{
	char *const low = (char *)0x100000000000;
	char *const heap[] = {map(low, 1 << 20), map(low + ((size_t)64 << 30), 1 << 20)};

	for (int i = 0; i < 2 * TIMES; i++) {
		if (i == TIMES)
			begin_count();
		for (int j = 0; j < 2; j++)
			leakwrap_record(heap[j], 100);
		for (int j = 0; j < 2; j++)
			leakwrap_forget(heap[j]);
	}
	end_count();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "coroutines") == 0)
		many_coroutines();
	else if (strcmp(what, "smaller") == 0)
		smaller_stacks();
	else if (strcmp(what, "rooms") == 0)
		other_rooms();
	else if (strcmp(what, "called") == 0)
		called();
	else if (strcmp(what, "callers") == 0)
		callers();
	else if (strcmp(what, "far_fp") == 0)
		far_fp();
	else if (strcmp(what, "shallow") == 0)
		pairs_twice();
	else if (strcmp(what, "deep") == 0)
		far_down(NULL);
	else if (strcmp(what, "thread") == 0)
		in_thread();
	else if (strcmp(what, "heaps") == 0)
		two_heaps();
	else
		return 2;
	return 0;
}
