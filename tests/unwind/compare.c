/* compare.c - stands in the place of malloc, calloc and realloc, and at each call compares the table walk with
 * libgcc's _Unwind_Backtrace.  Linked with --wrap into programs that use prebuilt archives; compare_report
 * prints the counts and says whether all was well. */
#include "compare.h"

#include "arch/arch.h"
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
	atomic_ulong walks, frames, complete, differ;
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

static __attribute__((noinline)) void compare(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	static _Thread_local bool inside;
	uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {pcs, LEAKWRAP_MAX_DEPTH, 0, LEAKWRAP_TRACE_TRUNCATED};
	struct leakwrap_stack stack;
	struct expected expected = {.start = pc};

	if (inside || !atomic_load(&counts.on))
		return;
	inside = true;
	stack = leakwrap_stack_at(sp);
	leakwrap_unwind_table(&trace, &stack, pc, sp, fp);
	_Unwind_Backtrace(collect, &expected);
	atomic_fetch_add(&counts.walks, 1);
	atomic_fetch_add(&counts.frames, trace.depth);
	atomic_fetch_add(&counts.complete, trace.kind == LEAKWRAP_TRACE_COMPLETE);
	if (trace.depth != expected.depth || memcmp(pcs, expected.pcs, trace.depth * sizeof(*pcs)) != 0)
		if (atomic_fetch_add(&counts.differ, 1) < 3) {
			fprintf(stderr, "differs: %u frames, wanted %u; kind %d\n", trace.depth,
			        expected.depth, (int)trace.kind);
			for (unsigned i = 0; i < trace.depth || i < expected.depth; i++)
				fprintf(stderr, "  %2u %16lx %16lx\n", i,
				        i < trace.depth ? (unsigned long)pcs[i] : 0,
				        i < expected.depth ? (unsigned long)expected.pcs[i] : 0);
		}
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

void compare_start(void)
{
	leakwrap_modules_refresh();
	atomic_store(&counts.on, true);
}

bool compare_report(void)
{
	atomic_store(&counts.on, false);
	printf("%lu walks, %lu frames, %lu complete, %lu differ\n", atomic_load(&counts.walks),
	       atomic_load(&counts.frames), atomic_load(&counts.complete), atomic_load(&counts.differ));
	return atomic_load(&counts.walks) > 0 && atomic_load(&counts.differ) == 0 &&
	       atomic_load(&counts.complete) == atomic_load(&counts.walks);
}
