/* compare.c - stands in the place of malloc, calloc and realloc, and at each call compares the table walk, or
 * what the memo gives instead, with libgcc's _Unwind_Backtrace.  Linked with --wrap into programs that use prebuilt archives; compare_report
 * prints the counts and says whether all was well. */
#include "compare.h"

#include "arch/arch.h"
#include "memo.h"
#include "modules.h"
#include "thread.h"
#include "unwind.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

_Thread_local struct leakwrap_thread leakwrap_self;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static struct {
	atomic_ulong walks, remembered, frames, complete, differ;
	atomic_bool on;
} counts;

struct expected {
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	unsigned depth;
	uintptr_t start;
	bool started;
};

/* From libgcc's <unwind.h>, which has the name of one of the runtime's headers. */
struct _Unwind_Context;
int _Unwind_Backtrace(int (*each)(struct _Unwind_Context *, void *), void *argument);
uintptr_t _Unwind_GetIP(struct _Unwind_Context *context);
enum { GO_ON = 0, STOP = 5 }; /* _URC_NO_REASON, _URC_END_OF_STACK */

static int collect(struct _Unwind_Context *context, void *argument)
{
	struct expected *expected = argument;
	uintptr_t pc = _Unwind_GetIP(context);

	if (pc == expected->start)
		expected->started = true;
	if (expected->started && pc != 0) {
		if (expected->depth == LEAKWRAP_MAX_DEPTH)
			return STOP;
		expected->pcs[expected->depth++] = pc;
	}
	return GO_ON;
}

/* The traces that the memo may name: the number is the place, from 1. */
struct known {
	unsigned depth;
	enum leakwrap_trace_kind kind;
	uintptr_t *pcs;
};

#define KNOWN_MAX 100000

static struct known known[KNOWN_MAX];
static atomic_uint known_count;

static uint32_t remember(const struct leakwrap_trace *trace)
{
	uint32_t number = atomic_fetch_add(&known_count, 1) + 1;

	if (number >= KNOWN_MAX)
		return 0;
	known[number].depth = trace->depth;
	known[number].kind = trace->kind;
	known[number].pcs = __real_malloc(trace->depth * sizeof(*trace->pcs));
	memcpy(known[number].pcs, trace->pcs, trace->depth * sizeof(*trace->pcs));
	return number;
}

/* The trace by way of the memo, as backtrace.c does it. */
static struct known recall(uintptr_t *pcs, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	struct leakwrap_trace trace = {.pcs = pcs, .max = LEAKWRAP_MAX_DEPTH};
	struct leakwrap_stack stack = leakwrap_stack_at(sp);
	uint32_t number = leakwrap_memo_find(&stack, pc, sp, fp);
	struct leakwrap_reads reads;

	if (number) {
		atomic_fetch_add(&counts.remembered, 1);
		return known[number];
	}
	trace.reads = leakwrap_memo_begin(&reads, &stack, trace.max, pc, sp, fp);
	leakwrap_unwind_table(&trace, &stack, pc, sp, fp);
	leakwrap_memo_end(trace.reads, remember(&trace));
	return (struct known){trace.depth, trace.kind, pcs};
}

static void complain(const struct known *got, const struct expected *wanted)
{
	fprintf(stderr, "differs: %u frames, wanted %u; kind %d\n", got->depth, wanted->depth,
	        (int)got->kind);
	for (unsigned i = 0; i < got->depth || i < wanted->depth; i++)
		fprintf(stderr, "  %2u %16lx %16lx\n", i,
		        i < got->depth ? (unsigned long)got->pcs[i] : 0,
		        i < wanted->depth ? (unsigned long)wanted->pcs[i] : 0);
}

static __attribute__((noinline)) void compare(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	static _Thread_local bool inside;
	struct expected expected = {.start = pc};
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct known got;

	if (inside || !atomic_load(&counts.on))
		return;
	inside = true;
	got = recall(pcs, pc, sp, fp);
	_Unwind_Backtrace(collect, &expected);
	atomic_fetch_add(&counts.walks, 1);
	atomic_fetch_add(&counts.frames, got.depth);
	atomic_fetch_add(&counts.complete, got.kind == LEAKWRAP_TRACE_COMPLETE);
	if (got.kind != LEAKWRAP_TRACE_COMPLETE || got.depth != expected.depth || memcmp(got.pcs, expected.pcs, got.depth * sizeof(*pcs)) != 0)
		if (atomic_fetch_add(&counts.differ, 1) < 3)
			complain(&got, &expected);
	inside = false;
}

void *__wrap_malloc(size_t size)
{
	compare(LEAKWRAP_CALLER);
	return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	compare(LEAKWRAP_CALLER);
	return __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
	compare(LEAKWRAP_CALLER);
	return __real_realloc(block, size);
}

void compare_here(void)
{
	compare(LEAKWRAP_CALLER);
}

void compare_start(void)
{
	leakwrap_modules_refresh();
	atomic_store(&counts.on, true);
}

bool compare_report(void)
{
	atomic_store(&counts.on, false);
	printf("%lu backtraces, %lu of them remembered, %lu frames, %lu complete, %lu differ\n",
	       atomic_load(&counts.walks), atomic_load(&counts.remembered), atomic_load(&counts.frames),
	       atomic_load(&counts.complete), atomic_load(&counts.differ));
	fflush(stdout);
	return atomic_load(&counts.walks) > 0 && atomic_load(&counts.differ) == 0 &&
	       atomic_load(&counts.complete) == atomic_load(&counts.walks);
}
