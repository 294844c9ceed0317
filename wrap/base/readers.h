/* readers.h - tells when no reader can see memory any more that the tables no longer refer to.
 *
 * Call sites are read without a lock.  A thread that reads them enters first and leaves afterwards.
 * Who removes a record unlinks it, waits until every reader that was inside has left, and only then
 * gives the memory back:
 *
 *   unlink ──► leakwrap_grace_begin
 *                  ... ──► leakwrap_grace_is_over returns true ──► give back
 *
 * Nobody waits.  While a reader stays inside (a dump may for minutes), memory is not given back.
 * The readers are counted in slots, so that threads rarely share a cache line.  A reader that a
 * signal handler has left by siglongjmp is forgotten when its thread enters again, higher on its
 * stack.
 */
#ifndef LEAKWRAP_READERS_H
#define LEAKWRAP_READERS_H

#include <stdbool.h>
#include <stdint.h>

/* With this argument leakwrap_readers_leave does nothing.  It is behind the last slot. */
#define LEAKWRAP_READERS_NONE 64u

#ifndef LEAKWRAP_BARE

/* Enters.  Returns the argument for leakwrap_readers_leave.  Calls nest.  Signal-safe. */
unsigned leakwrap_readers_enter(void);

/* The same for a caller that leaves in another function than it enters in.  The program called the
 * tracer with its stack pointer at SP.  Signal-safe. */
unsigned leakwrap_readers_enter_from(uintptr_t sp);

/* Leaves.  ENTERED: what leakwrap_readers_enter returned to this thread.  Signal-safe. */
void leakwrap_readers_leave(unsigned entered);

#else

/* Without an operating system nothing is given back. */
static inline unsigned leakwrap_readers_enter_from(uintptr_t sp)
{
	(void)sp;
	return LEAKWRAP_READERS_NONE;
}

static inline void leakwrap_readers_leave(unsigned entered)
{
	(void)entered;
}

#endif

/* The slots whose readers may still see what was unlinked before leakwrap_grace_begin. */
struct leakwrap_grace {
	uint64_t slots; /* bit i: slot i was not seen empty yet */
};

/* Begins to wait for the readers that are inside now. */
void leakwrap_grace_begin(struct leakwrap_grace *grace);

/* Returns whether all those readers have left. */
bool leakwrap_grace_is_over(struct leakwrap_grace *grace);

/* In a forked child: forgets the readers, which were threads of the parent. */
void leakwrap_readers_forked(void);

#endif
