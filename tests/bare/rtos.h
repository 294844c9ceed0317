/* rtos.h - the part of FreeRTOS's interface that the tests use. */
#ifndef RTOS_H
#define RTOS_H

#include <stddef.h>

void *pvPortMalloc(size_t size);
void *pvPortCalloc(size_t count, size_t size);
void vPortFree(void *block);

/* Cooperative tasks.  The name is not copied. */
struct task;
struct task *task_create(const char *name, void (*run)(void), size_t stack_size);
void task_yield(void);           /* lets the next task run */
void tasks_run(void);            /* runs until all tasks have returned from run */
struct task *task_current(void); /* NULL outside of tasks */
const char *task_name(const struct task *task);
void *task_stack_low(const struct task *task);
void *task_stack_high(const struct task *task);
struct task *task_number(unsigned number); /* from 0; NULL: there are fewer tasks */
void *task_sp(const struct task *task);    /* while it does not run */

#endif
