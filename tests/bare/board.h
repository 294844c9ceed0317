/* board.h - what these boards share with a real one: a console, a heap, a way to stop; and
 * hooks for the tracer. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leakwrap_bare.h"

/* Writes to the emulator's console, and ends the run. */
void console_write(const char *bytes, size_t size);
void stop(int status) __attribute__((noreturn));

/* From the board's linker script. */
extern const char text_start[], text_end[], stack_low[], stack_high[], build_id[];

/* What each program says of itself in leakwrap_bare: the array "memory", and the linker script's
 * addresses. */
#define BOARD_MEMBERS                                                             \
	.memory = memory, .memory_size = sizeof(memory), .stack_low = stack_low,  \
	.stack_high = stack_high, .text_start = text_start, .text_end = text_end, \
	.build_id_note = build_id

/* Hooks of leakwrap_bare. board_lock and board_unlock end the run if the tracer nests the lock, or
 * does not hand back what board_lock returned. */
uintptr_t board_lock(void);
void board_unlock(uintptr_t state);
bool board_is_locked(void);
uint64_t board_nanoseconds(void);

/* The hook "task", for the tasks of rtos.h. The second function leaves out their names. */
void board_describe_task(struct leakwrap_bare_task *task);
void board_describe_unnamed_task(struct leakwrap_bare_task *task);

/* Raises the exception of that name: HardFault, data_abort, prefetch_abort,
 * undefined_instruction. */
void provoke(const char *exception);

/* Guards the 32 bytes behind ADDRESS, rounded up to 32, by the MPU (Cortex-M): an access is a
 * fault. */
void guard(uintptr_t address);

/* Takes the stack pointer out of the memory, and pushes a word (Cortex-M). */
void leave_stack(void);

/* Gives exception handlers a stack of their own from now on, as under an RTOS (Cortex-M). The
 * second function returns how many of its bytes have been used since then, or 0 on other
 * processors. */
void use_process_stack(void);
size_t exception_stack_used(void);

/* Runs HANDLER as an interrupt's handler, if such a handler is a plain function (Cortex-M). */
void interrupt(void (*handler)(void));

#endif
