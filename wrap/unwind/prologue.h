/* prologue.h - finds the rule of a frame in the code that builds the frame.
 *
 * For code without an unwind table, and for return addresses that are not in the rule cache.  All
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

/* Functions are assumed to be shorter than this, in bytes. */
#define LEAKWRAP_FUNCTION_MAX 65536u

/* Finds the rule of the frame at PC by following the code from START, the function's first
 * instruction, to PC: it shows how the frame was built.  PC is a return address, or, if
 * INTERRUPTED, the address at which a signal arrived.  Returns false if the code cannot be followed
 * to PC. */
bool leakwrap_find_prologue_rule(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc,
                                 bool interrupted, struct leakwrap_rule *rule);

/* Finds the rule of the frame at PC when the function's start is unknown.  Tries the nearest places
 * before PC that store a return address, and follows the code from there as above. */
bool leakwrap_find_near_prologue_rule(const struct leakwrap_code *code, uintptr_t pc,
                                      bool interrupted, struct leakwrap_rule *rule);

/* Returns true if no function seems to end between START and PC.  A function ends behind a jump or
 * a return, unless an earlier branch leads further.  The end is missed where the last instruction
 * is a call that never returns. */
bool leakwrap_is_one_function(const struct leakwrap_code *code, uintptr_t start, uintptr_t pc);

#endif
