/* prologue.h - what the instructions themselves tell about a frame, where there is no unwind table.
 *
 * Called for return addresses that the rule cache does not know; may run in signal handlers.
 */
#ifndef LEAKWRAP_PROLOGUE_H
#define LEAKWRAP_PROLOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "rules.h"

/* The rule of a signal frame, if PC is the code to which signal handlers return: the C library's, or the
 * kernel's (the vdso has a table, but not every kernel, and no emulator, maps one).  Only the code before END
 * is known to be readable; END may be 0. */
bool leakwrap_restorer_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule);

/* Is there a call right before the address PC, as there is before every return address?  TEXT is where the
 * readable code around it begins. */
bool leakwrap_follows_call(uintptr_t pc, uintptr_t text);

/* x86: if the call before the return address PC leads to a function that begins by setting up a frame pointer, where
 * that one starts; else 0.  TEXT and END bound the readable code around PC. */
uintptr_t leakwrap_framed_callee(uintptr_t pc, uintptr_t text, uintptr_t end);

#endif
