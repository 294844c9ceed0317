/* start_code.h - recognizes the code that starts the program or a thread.
 *
 * Nothing calls that code: a backtrace ends there.  All functions may run in signal handlers and
 * take no lock.
 */
#ifndef LEAKWRAP_START_CODE_H
#define LEAKWRAP_START_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"

/* Returns true if PC is the return address of one of the first calls in the start code of the
 * program (_start) or of a thread (__clone).  Returns false if their symbols are missing. */
bool leakwrap_is_start(uintptr_t pc);

/* Does the work of leakwrap_is_start, also for start code without a symbol.  WORD is a return
 * address as found on the stack. */
bool leakwrap_is_start_word(uintptr_t word);

/* Returns true if the code at PC soon makes a system call, without a jump or a call before it.  The
 * start code of threads ends the thread that way, behind the call of the thread's function. */
bool leakwrap_ends_thread(const struct leakwrap_code *code, uintptr_t pc);

#endif
