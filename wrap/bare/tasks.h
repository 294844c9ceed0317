/* tasks.h - the tasks of an RTOS, as far as the tracer has met them: what thread.h keeps of a thread is kept for
 * each, and their names. */
#ifndef LEAKWRAP_TASKS_H
#define LEAKWRAP_TASKS_H

/* From 1; 1 is what runs outside of tasks. */
unsigned leakwrap_task_number(void);

/* The name of the running task, or NULL.  Equal names are the same string, which lives for ever. */
const char *leakwrap_task_name(void);

#endif
