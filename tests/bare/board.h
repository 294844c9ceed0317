/* board.h - what the boards of these tests have in common with a real one: a console, a heap, a way to stop. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>
#include <stdint.h>

/* To the console of the emulator, and the end of the run. */
void console_write(const char *bytes, size_t size);
void stop(int status) __attribute__((noreturn));

/* Of the board's linker script. */
extern const char text_start[], text_end[], stack_low[], stack_high[], build_id[];

/* Runs into the exception of that name: HardFault, data_abort, prefetch_abort or undefined_instruction. */
void provoke(const char *exception);

/* From now on the handlers of exceptions have a stack of their own, as under an RTOS (Cortex-M); and how many of its
 * bytes have been used since, 0 where this is not so. */
void use_process_stack(void);
size_t exception_stack_used(void);

/* Runs HANDLER as the handler of an interrupt, where that is a function like others (Cortex-M). */
void interrupt(void (*handler)(void));

#endif
