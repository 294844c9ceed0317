/* sigreturn.h - recognizes the code to which a signal handler returns.
 *
 * Called by the walk and by the crash trace.  May run in signal handlers.
 */
#ifndef LEAKWRAP_SIGRETURN_H
#define LEAKWRAP_SIGRETURN_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/unwind/rule_cache.h"

/* Fills *RULE with the rule of a signal frame, if PC is a sigreturn trampoline.  That is the code
 * to which a signal handler returns, in the C library or in the kernel's vdso.  The vdso has an
 * unwind table, but some kernels and all emulators map no vdso.  The bytes from PC to END are
 * readable.  END 0: PC is in no module; then it is read if it is in executable memory
 * (other_code.h).  Returns false if PC is no trampoline or cannot be read. */
bool leakwrap_find_sigreturn_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule);

#endif
