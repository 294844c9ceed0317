/* walk_again.c [THREADS] - stacks that hardly repeat: random recursion through functions with and
 * without frame pointers, with arrays of random sizes, and through libjansson, whose code has no
 * frame pointers. At each allocation, a walk that ends at the thread's latest walk is compared with
 * a whole walk: frames, kind and read set. Signal handlers come at any time and do the same.
 *
 * Prints the comparisons, and how many walks ended at the latest walk. */
#include "wrap/base/options.h"
#include "wrap/module/modules.h"
#include "wrap/record/record.h"
#include "wrap/unwind/read_set.h"
#include "wrap/unwind/unwind.h"
#include "wrap/unwind/walk_memo.h"

#include <alloca.h>
#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static atomic_ulong compared, ended_early, differ, in_handlers;

/* -- comparing --------------------------------------------------------------------------------- */

struct walked {
	struct leakwrap_trace trace;
	struct leakwrap_read_set read_set;
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	uint16_t positions[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_stack_link links[2 * LEAKWRAP_MAX_DEPTH];
};

static void prepare(struct walked *walked, uintptr_t sp)
{
	walked->read_set =
	        (struct leakwrap_read_set){.position = walked->positions, .link = walked->links};
	walked->trace = (struct leakwrap_trace){
	        .pcs = walked->pcs, .max = leakwrap_options.depth, .read_set = &walked->read_set};
	leakwrap_read_set_begin(&walked->read_set, sp);
}

static bool are_equal(const struct walked *a, const struct walked *b)
{
	const struct leakwrap_read_set *const x = &a->read_set, *const y = &b->read_set;

	return a->trace.depth == b->trace.depth && a->trace.kind == b->trace.kind &&
	       memcmp(a->trace.pcs, b->trace.pcs, a->trace.depth * sizeof(uintptr_t)) == 0 &&
	       x->usable == y->usable && x->return_count == y->return_count &&
	       memcmp(x->position, y->position, x->return_count * sizeof(uint16_t)) == 0 &&
	       x->link_count == y->link_count &&
	       memcmp(x->link, y->link, x->link_count * sizeof(*x->link)) == 0 &&
	       x->fp_target == y->fp_target && x->end_position == y->end_position &&
	       x->end_word == y->end_word;
}

static void complain(const struct walked *again, const struct walked *whole)
{
	fprintf(stderr, "differs: %u frames, wanted %u; kind %d, wanted %d\n", again->trace.depth,
	        whole->trace.depth, (int)again->trace.kind, (int)whole->trace.kind);
	for (unsigned i = 0; i < again->trace.depth || i < whole->trace.depth; i++)
		fprintf(stderr, "  %2u %16lx %16lx\n", i,
		        i < again->trace.depth ? (unsigned long)again->trace.pcs[i] : 0,
		        i < whole->trace.depth ? (unsigned long)whole->trace.pcs[i] : 0);
}

static __attribute__((noinline)) void compare(struct leakwrap_caller caller)
{
	struct walked again, whole;
	struct leakwrap_stack stack = leakwrap_stack_at(caller.sp), same = stack;

	prepare(&whole, caller.sp);
	leakwrap_unwind(&whole.trace, &stack, &caller);
	prepare(&again, caller.sp);
	atomic_fetch_add(&compared, 1);
	if (!leakwrap_walk_again(&again.trace, &same, &caller))
		return;
	atomic_fetch_add(&ended_early, 1);
	leakwrap_walk_again_read_set(&again.trace, &again.read_set);
	if (!are_equal(&again, &whole) && atomic_fetch_add(&differ, 1) < 3)
		complain(&again, &whole);
	leakwrap_walk_again_end(caller.sp);
}

static __attribute__((noinline)) void *allocate(size_t size)
{
	compare(LEAKWRAP_CALLER);
	return malloc(size);
}

/* -- stacks ------------------------------------------------------------------------------------ */

static _Thread_local uint64_t state;
static atomic_ulong seeds;
static _Thread_local sigjmp_buf *way_out; /* or NULL */

/* S. Vigna's splitmix64. */
static uint64_t next_random(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

typedef void go(unsigned depth);

static go plain, with_pointer, with_array, with_large_frame, with_many_registers;

static void go_on(unsigned depth)
{
	static go *const ways[] = {plain, with_pointer, with_array, with_large_frame,
	                           with_many_registers};

	if (next_random() % 2)
		free(allocate(10));
	if (depth > 0)
		ways[next_random() % 5](depth - 1);
	if (next_random() % 4 == 0)
		free(allocate(20));
}

#define WAY          static __attribute__((noinline))
#define NO_TAIL_CALL __asm__ volatile("")

WAY void plain(unsigned depth)
{
	go_on(depth);
	NO_TAIL_CALL;
}

WAY __attribute__((optimize("no-omit-frame-pointer"))) void with_pointer(unsigned depth)
{
	go_on(depth);
	NO_TAIL_CALL;
}

WAY void with_array(unsigned depth)
{
	volatile char *bytes = alloca(16 + next_random() % 200);

	bytes[0] = 1;
	go_on(depth);
	NO_TAIL_CALL;
}

WAY void with_large_frame(unsigned depth)
{
	volatile char bytes[5000];

	bytes[depth % sizeof(bytes)] = 1;
	go_on(depth + bytes[depth % sizeof(bytes)] - 1);
	NO_TAIL_CALL;
}

WAY void with_many_registers(unsigned depth)
{
	uint64_t a = next_random(), b = next_random(), c = next_random(), d = next_random();

	go_on(depth);
	__asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d));
	go_on(depth / 2);
	__asm__ volatile("" ::"r"(a + b), "r"(c + d));
}

static void recurse(void)
{
	go_on((unsigned)(next_random() % 12));
	if (next_random() % 64 == 0)
		plain(60 + (unsigned)(next_random() % 200));
}

/* -- documents --------------------------------------------------------------------------------- */

static void parse(void)
{
	char text[512] = "";
	char ends[32] = "";
	unsigned depth = (unsigned)(next_random() % 20);

	for (unsigned i = 0; i < depth; i++) {
		const bool is_object = next_random() % 2;

		strcat(text, is_object ? "{\"a\":1,\"b\":" : "[2.5,");
		memmove(ends + 1, ends, strlen(ends) + 1);
		ends[0] = is_object ? '}' : ']';
	}
	strcat(text, "[3]");
	strcat(text, ends);
	json_decref(json_loads(text, 0, NULL));
}

/* ---------------------------------------------------------------------------------------------- */

/* Some handlers leave the interrupted walk for ever. */
static void handle(int signal)
{
	(void)signal;
	atomic_fetch_add(&in_handlers, 1);
	compare(LEAKWRAP_CALLER);
	if (way_out && next_random() % 2)
		siglongjmp(*way_out, 1);
}

static void *run(void *rounds)
{
	sigjmp_buf out;

	state = atomic_fetch_add(&seeds, 1);
	for (volatile unsigned long i = 0; i < *(const unsigned long *)rounds; i++) {
		/* libjansson must not be left in the middle. */
		parse();
		if (sigsetjmp(out, 1) == 0) {
			way_out = &out;
			recurse();
		}
		way_out = NULL;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct itimerval often = {{0, 500}, {0, 500}};
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	pthread_t thread;

	(void)argv;
	json_object_seed(1);
	json_set_alloc_funcs(allocate, free);
	leakwrap_modules_refresh();
	free(malloc(1)); /* starts the runtime */
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_RESTART}, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	if (pthread_create(&thread, NULL, run, &rounds) != 0)
		return 2;
	run(&rounds);
	pthread_join(thread, NULL);
	printf("%lu compared, %lu ended early, %lu in handlers, %lu differ\n", compared,
	       ended_early, in_handlers, differ);
	return differ != 0 || ended_early < compared * 9 / 10;
}
