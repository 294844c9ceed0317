/* rtos.c - the "vendor's" part: a heap of its own, and tasks that take turns, in the manner of
 * FreeRTOS. It is compiled without frame pointers and tables. */
#include "rtos.h"

#include <stdint.h>

/* -- heap_1 ------------------------------------------------------------------------------------ */

static struct task *current;

static uint64_t heap[16384 / 8];
static size_t used;

void *pvPortMalloc(size_t size)
{
	size_t words = (size + 7) / 8;
	void *block = &heap[used];

	if (words > sizeof(heap) / 8 - used)
		return NULL;
	used += words;
	if (current)
		task_yield(); /* heap_4 may do this when it lets other tasks run again */
	return block;
}

/* The heap was zero when the program started, and no block is reused. */
void *pvPortCalloc(size_t count, size_t size)
{
	return pvPortMalloc(count * size);
}

void vPortFree(void *block)
{
	(void)block;
}

/* -- tasks ------------------------------------------------------------------------------------- */

struct task {
	void *sp; /* while it does not run */
	const char *name;
	void (*run)(void);
	char *stack;
	size_t stack_size;
	int ended;
};

#define TASKS_MAX 4

static struct task tasks[TASKS_MAX];
static unsigned count;
static void *main_sp;

/* Saves the registers that a call must preserve, and where to go on. Goes on with the other
 * stack. */
void task_switch(void **from, void *to);

__asm__(".syntax unified\n\t"
        ".text\n\t"
        ".global task_switch\n\t"
        ".type task_switch, %function\n"
#ifdef __thumb__
        ".thumb_func\n"
#endif
        "task_switch:\n\t"
        "push {r0, lr}\n\t" /* r0: to keep the stack aligned */
#if defined(__thumb__) && !defined(__thumb2__)
        "sub sp, #16\n\t"
        "mov r2, r8\n\t str r2, [sp, #0]\n\t"
        "mov r2, r9\n\t str r2, [sp, #4]\n\t"
        "mov r2, r10\n\t str r2, [sp, #8]\n\t"
        "mov r2, r11\n\t str r2, [sp, #12]\n\t"
        "push {r4-r7}\n\t"
        "mov r2, sp\n\t"
        "str r2, [r0]\n\t"
        "mov sp, r1\n\t"
        "pop {r4-r7}\n\t"
        "ldr r2, [sp, #0]\n\t mov r8, r2\n\t"
        "ldr r2, [sp, #4]\n\t mov r9, r2\n\t"
        "ldr r2, [sp, #8]\n\t mov r10, r2\n\t"
        "ldr r2, [sp, #12]\n\t mov r11, r2\n\t"
        "add sp, #16\n\t"
        "pop {r0, r1}\n\t"
        "mov lr, r1\n\t"
        "bx lr\n\t"
#else
        "push {r4-r11}\n\t"
        "mov r2, sp\n\t"
        "str r2, [r0]\n\t"
        "mov sp, r1\n\t"
        "pop {r4-r11}\n\t"
        "pop {r0, lr}\n\t"
        "bx lr\n\t"
#endif
        ".size task_switch, . - task_switch\n");

static void task_main(void) __attribute__((noreturn));

static void task_main(void)
{
	current->run();
	current->ended = 1;
	for (;;)
		task_yield();
}

struct task *task_create(const char *name, void (*run)(void), size_t stack_size)
{
	struct task *task = &tasks[count++];
	uintptr_t *sp;

	task->name = name;
	task->run = run;
	task->stack_size = stack_size;
	task->stack = pvPortMalloc(stack_size);
	sp = (uintptr_t *)(void *)(task->stack + stack_size) - 12;
	for (int i = 0; i < 12; i++)
		sp[i] = 0;
	sp[9] = (uintptr_t)task_main;
	task->sp = sp;
	return task;
}

static struct task *next_task(void)
{
	unsigned first = current ? (unsigned)(current - tasks) + 1 : 0;

	for (unsigned i = 0; i < count; i++)
		if (!tasks[(first + i) % count].ended)
			return &tasks[(first + i) % count];
	return NULL;
}

void task_yield(void)
{
	struct task *from = current;

	current = next_task();
	if (current != from)
		task_switch(&from->sp, current ? current->sp : main_sp);
}

void tasks_run(void)
{
	current = next_task();
	task_switch(&main_sp, current->sp);
}

struct task *task_current(void)
{
	return current;
}

const char *task_name(const struct task *task)
{
	return task->name;
}

void *task_stack_low(const struct task *task)
{
	return task->stack;
}

void *task_stack_high(const struct task *task)
{
	return task->stack + task->stack_size;
}

struct task *task_number(unsigned number)
{
	return number < count ? &tasks[number] : NULL;
}

void *task_sp(const struct task *task)
{
	return task->sp;
}
