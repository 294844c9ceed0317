/* compare.c - replaces malloc, calloc and realloc. At each call it compares the backtrace that the
 * tracer takes, walked or recognized, with libgcc's _Unwind_Backtrace. It is linked with --wrap
 * into programs that use prebuilt archives. compare_report prints the counts and says whether all
 * backtraces were equal. */
#include "compare.h"

#include "wrap/record/record.h"
#include "wrap/live/live.h"
#include "wrap/module/registry.h"
#include "wrap/site/site_read.h"
#include "wrap/unwind/unwind.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static struct {
	atomic_ulong walks, frames, complete, differ;
	atomic_bool on;
} counts;

struct expected {
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	unsigned depth;
	uintptr_t start;
	bool started;
};

/* From libgcc's <unwind.h>; one of the runtime's headers has the same name. */
struct _Unwind_Context;
int _Unwind_Backtrace(int (*each)(struct _Unwind_Context *, void *), void *argument);
#ifdef __arm__
int _Unwind_VRS_Get(struct _Unwind_Context *context, int class, uint32_t reg, int form,
                    void *value);

static uintptr_t _Unwind_GetIP(struct _Unwind_Context *context)
{
	uintptr_t pc = 0;

	_Unwind_VRS_Get(context, 0, 15, 0, &pc);
	return pc & ~(uintptr_t)1;
}
#else
uintptr_t _Unwind_GetIP(struct _Unwind_Context *context);
#endif
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

/* Reads the backtrace of the call site that the tracer gives to an allocation by this caller. */
static void read_site_of_caller(struct leakwrap_trace *trace, struct leakwrap_caller caller)
{
	static _Alignas(64) _Thread_local char block[64];
	uint32_t number;

	leakwrap_begin_allocation();
	leakwrap_record_allocation(block, 1, caller);
	number = leakwrap_live_find(block).site;
	leakwrap_end_release(leakwrap_begin_release(block, 0));
	leakwrap_site_read(number, trace);
}

static void complain(const struct leakwrap_trace *got, const struct expected *wanted)
{
	fprintf(stderr, "differs: %u frames, wanted %u; kind %d\n", got->depth, wanted->depth,
	        (int)got->kind);
	for (unsigned i = 0; i < got->depth || i < wanted->depth; i++)
		fprintf(stderr, "  %2u %16lx %16lx\n", i,
		        i < got->depth ? (unsigned long)got->pcs[i] : 0,
		        i < wanted->depth ? (unsigned long)wanted->pcs[i] : 0);
}

/* libgcc stops short where code lacks tables, as AArch64's linkage tables do, in which a signal may
 * come. */
static bool has_depth(unsigned got, unsigned expected)
{
#if defined(__x86_64__)
	return got == expected;
#else
	return got >= expected;
#endif
}

static bool is_as(const struct leakwrap_trace *got, const struct expected *wanted)
{
	if (got->kind != LEAKWRAP_TRACE_COMPLETE || !has_depth(got->depth, wanted->depth))
		return false;
	for (unsigned i = 0; i < wanted->depth; i++)
		if (got->pcs[i] != wanted->pcs[i])
			return false;
	return true;
}

static __attribute__((noinline)) void compare(struct leakwrap_caller caller)
{
	static _Thread_local bool inside;
	struct expected expected = {.start = caller.pc};
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace got = {.pcs = pcs};

	if (inside || !atomic_load(&counts.on))
		return;
	inside = true;
	read_site_of_caller(&got, caller);
	_Unwind_Backtrace(collect, &expected);
	atomic_fetch_add(&counts.walks, 1);
	atomic_fetch_add(&counts.frames, got.depth);
	atomic_fetch_add(&counts.complete, got.kind == LEAKWRAP_TRACE_COMPLETE);
	if (!is_as(&got, &expected) && atomic_fetch_add(&counts.differ, 1) < 3)
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
	printf("%lu backtraces, %lu frames, %lu complete, %lu differ\n", atomic_load(&counts.walks),
	       atomic_load(&counts.frames), atomic_load(&counts.complete),
	       atomic_load(&counts.differ));
	fflush(stdout);
	return atomic_load(&counts.walks) > 0 && atomic_load(&counts.differ) == 0 &&
	       atomic_load(&counts.complete) == atomic_load(&counts.walks);
}
