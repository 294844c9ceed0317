/* faults.c - raises the exception that it was built for, some calls below main, or in a task if it
 * was built so.  With OVERFLOW the task's stack overflows, with NO_STACK it is lost. */
#include <stdio.h>
#include <stdlib.h>

#include "board.h"
#include "leakwrap_bare.h"
#include "rtos.h"

static uint64_t memory[1024];

static void after_fault(void);
static void write_or_fault(const char *bytes, size_t size);

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .write = write_or_fault,
        .task = board_describe_task,
        .after_fault = after_fault,
        .program = "faults.elf",
};

static void *volatile kept;

/* The program ends with a status other than 0, because a fault ended it. */
static void after_fault(void)
{
	char text[32];

	console_write(text, (size_t)snprintf(text, sizeof(text), "stack %u\n",
	                                     (unsigned)exception_stack_used()));
	stop(42);
}

static void write_or_fault(const char *bytes, size_t size)
{
#ifdef IN_WRITE
	static int written;

	if (written++ == 1)
		provoke(EXCEPTION);
#endif
	console_write(bytes, size);
}

#ifndef IN_WRITE

#ifdef OVERFLOW

static int overflow(int depth)
{
	volatile int frame[3] = {depth};

	return depth < 0 ? depth : overflow(depth + 1) + frame[0];
}

#endif

static void innermost(void)
{
	volatile int frame[7] = {1};

#ifdef OVERFLOW
	guard((uintptr_t)task_stack_low(task_current()));
	overflow(1);
#elif defined(NO_STACK)
	leave_stack();
#else
	provoke(EXCEPTION);
#endif
	frame[0]++;
}

static int by_callback(const void *a, const void *b)
{
	innermost();
	return *(const int *)a - *(const int *)b;
}

static void below_newlib(void)
{
	int numbers[] = {2, 1};

	kept = malloc(100);
	qsort(numbers, 2, sizeof(numbers[0]), by_callback);
}

#endif

int main(void)
{
#ifdef IN_TASK
	use_process_stack();
	task_create("control loop", below_newlib, 2048);
	tasks_run();
#elif defined(IN_WRITE)
	kept = malloc(100);
	leakwrap_dump(-1);
#else
	below_newlib();
#endif
	return 0;
}
