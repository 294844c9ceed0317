/* tasks.h - the tasks of an RTOS that the tracer has met.  tasks.c also keeps a struct
 * leakwrap_thread (thread.h) for each task, and numbers tasks (leakwrap_thread_id).  The first has
 * number 2, and 1 stands for all code outside of tasks. */
#ifndef LEAKWRAP_TASKS_H
#define LEAKWRAP_TASKS_H

#include <stdint.h>

/* Returns the name of the running task, or NULL.  Equal names are the same string, which is never
 * freed.  May take the program's lock. */
const char *leakwrap_task_name(void);

/* Returns the name of the running task as the program gives it, or NULL.  Takes neither memory nor
 * the lock. */
const char *leakwrap_task_given_name(void);

/* Sets *START and *END to the bounds of the tracer's state outside of tasks, which may hold the
 * address of a block. */
void leakwrap_tasks_get_bounds(uintptr_t *start, uintptr_t *end);

#endif
