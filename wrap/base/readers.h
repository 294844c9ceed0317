/* readers.h - tells when no reader can see memory any more that the tables no longer refer to.
 *
 * Call sites are read without a lock.  A thread that reads them enters first and leaves afterwards.
 * Who removes a record unlinks it, and gives its memory back after every reader that was inside has
 * left:
 *
 *   unlink ──► leakwrap_grace_begin
 *                  ... ──► leakwrap_grace_is_over returns true ──► give back
 *
 * Nobody waits for that: leakwrap_grace_is_over is asked now and then.  While a reader stays inside
 * (a dump may for minutes), memory is not given back.
 *
 * Each thread says in memory of its own that it is inside, and since which grace.  One store does
 * it, so a signal handler may interrupt anywhere, and leave by siglongjmp.  A reader that it has
 * left is forgotten when its thread enters again, higher on its stack, or ends.
 */
#ifndef LEAKWRAP_READERS_H
#define LEAKWRAP_READERS_H

#include <stdbool.h>
#include <stdint.h>

/* What leakwrap_readers_leave has to do. */
enum leakwrap_readers_entry {
	LEAKWRAP_READERS_NONE,     /* nothing */
	LEAKWRAP_READERS_INSIDE,   /* the thread says that it is inside */
	LEAKWRAP_READERS_NAMELESS, /* there was no memory for the thread, which is counted */
};

#ifndef LEAKWRAP_BARE

/* Enters.  Returns the argument for leakwrap_readers_leave.  Calls nest.  Signal-safe. */
enum leakwrap_readers_entry leakwrap_readers_enter(void);

/* Enters as leakwrap_readers_enter does, for a caller that leaves in another function.  The program
 * called the tracer with its stack pointer at SP.  Signal-safe. */
enum leakwrap_readers_entry leakwrap_readers_enter_from(uintptr_t sp);

/* Leaves.  ENTERED: what leakwrap_readers_enter returned to this thread.  Signal-safe. */
void leakwrap_readers_leave(enum leakwrap_readers_entry entered);

#else

/* Without an operating system nothing is given back. */
static inline enum leakwrap_readers_entry leakwrap_readers_enter_from(uintptr_t sp)
{
	(void)sp;
	return LEAKWRAP_READERS_NONE;
}

static inline void leakwrap_readers_leave(enum leakwrap_readers_entry entered)
{
	(void)entered;
}

#endif

/* Readers who were inside before it began may still see what was unlinked before. */
struct leakwrap_grace {
	unsigned number;        /* counts the graces, modulo 2^32 */
	bool may_have_nameless; /* nameless readers were inside all the time */
};

/* Begins to wait for the readers that are inside now. */
void leakwrap_grace_begin(struct leakwrap_grace *grace);

/* Returns whether all those readers have left, or their threads have ended. */
bool leakwrap_grace_is_over(struct leakwrap_grace *grace);

/* In a forked child: forgets the readers, which were threads of the parent. */
void leakwrap_readers_reset_in_child(void);

#endif
