/* walk_shadow.h - the shadow call stack of objects compiled with -finstrument-functions.
 *
 * It gives backtraces where there are neither tables nor frame pointers (unwind=instrument).
 * Frames of other code are missing from these backtraces.
 *
 * The hooks are a member of the archive of their own (cyg_profile.c): a program without
 * instrumented objects does not link them.  All functions are signal-safe and take no lock.
 */
#ifndef LEAKWRAP_WALK_SHADOW_H
#define LEAKWRAP_WALK_SHADOW_H

#include <stdint.h>

#include "wrap/unwind/trace.h"

/* Pushes FUNCTION, which is being entered and will return to CALL_SITE.  SP: the stack pointer of
 * the code that calls the hook. */
void leakwrap_shadow_enter(const void *function, const void *call_site, uintptr_t sp);

/* Pops FUNCTION, which is being left, and all functions above it. */
void leakwrap_shadow_leave(const void *function);

/* Fills TRACE from the calling thread's shadow stack.  PC, SP: as of leakwrap_unwind (unwind.h). */
void leakwrap_walk_shadow(struct leakwrap_trace *trace, uintptr_t pc, uintptr_t sp);

/* Returns how often a function was entered when the shadow stack was full. */
unsigned long leakwrap_shadow_overflows(void);

/* Keeps only the shadow stack of the calling thread.  Called in a forked child. */
void leakwrap_shadow_reset_in_child(void);

#endif
