/* tasks.h - the tasks of an RTOS that the tracer has met: their numbers and names.  tasks.c also
 * keeps a struct leakwrap_thread (thread.h) for each task.  Both functions may take the program's
 * lock. */
#ifndef LEAKWRAP_TASKS_H
#define LEAKWRAP_TASKS_H

/* Returns the number of the running task, from 2.  1 stands for all code outside of tasks. */
unsigned leakwrap_task_number(void);

/* Returns the name of the running task, or NULL.  Equal names are the same string, which is never
 * freed. */
const char *leakwrap_task_name(void);

#endif
