/* walk_shadow.h - the shadow call stack of objects that were compiled with -finstrument-functions: the way to
 * take backtraces where there are neither tables nor frame pointers (unwind=instrument).
 *
 * The hooks are a member of the archive of their own (cyg_profile.c): a program without instrumented
 * objects does not link them.  Frames of other code are missing from such backtraces. */
#ifndef LEAKWRAP_WALK_SHADOW_H
#define LEAKWRAP_WALK_SHADOW_H

#include <stdint.h>

/* A function that is entered by a hook whose caller has SP, and that returns to CALL_SITE; and is left. */
void leakwrap_shadow_enter(const void *function, const void *call_site, uintptr_t sp);
void leakwrap_shadow_leave(const void *function);

/* Functions that were entered deeper than the shadow stack reaches. */
unsigned long leakwrap_shadow_overflows(void);

/* In a forked child. */
void leakwrap_shadow_forked(void);

#endif
