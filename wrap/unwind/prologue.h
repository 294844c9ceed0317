/* prologue.h - what the instructions themselves tell about a frame, where there is no unwind table.
 *
 * Called for return addresses that the rule cache does not know; may run in signal handlers.
 */
#ifndef LEAKWRAP_PROLOGUE_H
#define LEAKWRAP_PROLOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"
#include "wrap/unwind/rule_cache.h"

/* The rule of a signal frame, if PC is the code to which signal handlers return: the C library's, or the
 * kernel's (the vdso has a table, but not every kernel, and no emulator, maps one).  Only the code before END
 * is known to be readable; END may be 0. */
bool leakwrap_restorer_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule);

/* Is there a call right before the address PC, as there is before every return address?  TARGET is what it calls, 0
 * when that is in a register. */
bool leakwrap_call_before_return(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target);

/* Is PC behind one of the first CALLS calls of the function at START, which never stores a return address? */
bool leakwrap_is_among_calls(const struct leakwrap_code *code, uintptr_t start, unsigned calls,
                             uintptr_t pc);

/* Does the code at PC end the thread right away, by a system call?  So does the start code of threads, behind the
 * call of the thread's function. */
bool leakwrap_ends_thread(const struct leakwrap_code *code, uintptr_t pc);

/* The rule for PC, a return address or the address at which a signal INTERRUPTED its function, by following the
 * code from there to where the function returns: it must take its frame down before.  False when no way leads to
 * such a place, as when the call at PC never returns. */
bool leakwrap_epilogue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                            struct leakwrap_rule *rule);

/* The same by following the code of a function from its START to PC: how it has built its frame. */
bool leakwrap_prologue_rule(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc,
                            bool interrupted, struct leakwrap_rule *rule);

/* The same from where the function seems to start: the nearest place before PC that stores a return address. */
bool leakwrap_near_prologue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule);

/* Does the code from START on reach PC before its function ends? A function ends behind a jump or a
 * return if nothing before leads further.  Where a call that never returns is the last instruction,
 * the end is not seen. */
bool leakwrap_is_one_function(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc);

#endif
