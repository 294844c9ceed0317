/* tasks.c - see tasks.h.  Every allocation calls it. */
#include "wrap/bare/tasks.h"

#include "wrap/base/arena.h"
#include "wrap/leakwrap_bare.h"
#include "wrap/port/port.h"
#include "wrap/base/thread.h"

#include <string.h>

struct name {
	struct name *next;
	char text[];
};

/* A task that the tracer has met.  Tasks stay in the list: nothing tells when one is deleted.  An
 * RTOS may reuse the handle for another task. */
struct task {
	struct leakwrap_thread thread;
	struct task *next;
	const void *id;
	const char *name;
	unsigned number;
};

static struct {
	struct leakwrap_lock lock;
	struct task *_Atomic newest; /* head of a list that only grows; read without the lock */
	unsigned count;
	struct name *names;
} tasks = {.count = 1};

/* Stands for all code outside of tasks, and for tasks that found no memory. */
static struct task no_task = {.number = 1};

/* Returns the only copy of TEXT, or NULL if the memory is used up.  The caller holds the lock. */
static const char *intern(const char *text)
{
	struct name *name = tasks.names;
	size_t size = strlen(text) + 1;

	while (name && strcmp(name->text, text) != 0)
		name = name->next;
	if (!name && (name = leakwrap_arena_take(sizeof(*name) + size)) != NULL) {
		memcpy(name->text, text, size);
		name->next = tasks.names;
		tasks.names = name;
	}
	return name ? name->text : NULL;
}

/* Adds a task with the handle and name in NOW.  Returns NULL if the memory is used up. */
static __attribute__((noinline)) struct task *add_task(const struct leakwrap_bare_task *now)
{
	struct task *task;

	leakwrap_lock(&tasks.lock);
	task = leakwrap_arena_take(sizeof(*task));
	if (task) {
		task->id = now->id;
		task->name = now->name ? intern(now->name) : NULL;
		task->number = ++tasks.count;
		task->next = atomic_load(&tasks.newest);
		atomic_store(&tasks.newest, task);
	}
	leakwrap_unlock(&tasks.lock);
	return task;
}

/* Returns the task with the handle and name in NOW, or NULL if the tracer has not met it. */
static struct task *find_task(const struct leakwrap_bare_task *now)
{
	struct task *task = atomic_load(&tasks.newest);

	while (task && (task->id != now->id ||
	                (task->name && now->name && strcmp(task->name, now->name) != 0)))
		task = task->next;
	return task;
}

/* Returns what the program says of the running task. */
static struct leakwrap_bare_task ask_for_task(void)
{
	struct leakwrap_bare_task now = {NULL, NULL, 0, 0};

	if (leakwrap_bare.task)
		leakwrap_bare.task(&now);
	return now;
}

/* Returns the running task, with its stack's bounds as they are now. */
static struct task *current_task(void)
{
	const struct leakwrap_bare_task now = ask_for_task();
	struct task *task = NULL;

	if (now.id && !(task = find_task(&now)))
		task = add_task(&now);
	if (!task)
		task = &no_task;
	task->thread.stack_high = now.stack_high;
	task->thread.stack_room = now.stack_high - now.stack_low;
	return task;
}

struct leakwrap_thread *leakwrap_thread(void)
{
	return &current_task()->thread;
}

int leakwrap_thread_id(void)
{
	return (int)current_task()->number;
}

const char *leakwrap_task_name(void)
{
	return current_task()->name;
}

const char *leakwrap_task_given_name(void)
{
	return ask_for_task().name;
}

void leakwrap_tasks_get_bounds(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&no_task;
	*end = (uintptr_t)(&no_task + 1);
}
