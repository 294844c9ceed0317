/* prologue.h - finds the rule of a frame in the machine code, for code without an unwind table.
 *
 * The walks call these functions for return addresses that are not in the rule cache.  All
 * functions here may run in signal handlers.  They take no lock and allocate nothing.  CODE bounds
 * what is read.  On success they fill *RULE, which the caller owns; on failure *RULE may hold
 * anything.
 */
#ifndef LEAKWRAP_PROLOGUE_H
#define LEAKWRAP_PROLOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"
#include "wrap/unwind/rule_cache.h"

/* Fills *RULE with the rule of a signal frame, if PC is a sigreturn trampoline.  That is the code
 * to which a signal handler returns, in the C library or in the kernel's vdso.  The vdso has an
 * unwind table, but some kernels and all emulators map no vdso.  The bytes from PC to END are
 * readable; END may be 0. Other bytes are probed.  Returns false if PC is no trampoline or cannot
 * be read. */
bool leakwrap_sigreturn_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule);

/* Returns true if the instruction right before PC is a call, as before every return address.
 * Sets *TARGET to the address that is called, or to 0 if the call is through a register. */
bool leakwrap_call_before_return(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target);

/* Returns true if PC is the return address of one of the first CALLS calls of the function at
 * START. The function must not store a return address before PC, and must not end there. */
bool leakwrap_is_among_calls(const struct leakwrap_code *code, uintptr_t start, unsigned calls,
                             uintptr_t pc);

/* Returns true if the code at PC soon makes a system call, without a jump or a call before it.  The
 * start code of threads ends the thread that way, behind the call of the thread's function. */
bool leakwrap_ends_thread(const struct leakwrap_code *code, uintptr_t pc);

/* Finds the rule of the frame at PC by following the code from PC to a return, where the function
 * takes its frame down.  PC is a return address, or, if INTERRUPTED, the address at which a signal
 * arrived.  Returns false if no path leads to a return, as behind a call that never returns. */
bool leakwrap_epilogue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                            struct leakwrap_rule *rule);

/* Finds the rule of the frame at PC by following the code from START, the function's first
 * instruction, to PC: it shows how the frame was built.  PC and INTERRUPTED: as above.  Returns
 * false if the code cannot be followed to PC. */
bool leakwrap_prologue_rule(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc,
                            bool interrupted, struct leakwrap_rule *rule);

/* Finds the rule of the frame at PC when the function's start is unknown.  Tries the nearest places
 * before PC that store a return address, and follows the code from there as above. */
bool leakwrap_near_prologue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule);

/* Returns true if no function seems to end between START and PC. A function ends behind a jump or a
 * return, unless an earlier branch leads further.  The end is missed where the last instruction is
 * a call that never returns. */
bool leakwrap_is_one_function(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc);

#endif
