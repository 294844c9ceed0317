/* other_code.h - executable memory that lies in no module: of code that is generated at run time,
 * or of the kernel.
 *
 * Its ranges stand in a table.  They are read from /proc/self/maps when a walk comes to an unknown
 * address, but seldom.  The pauses begin with a 64th of a second, and double until they last a
 * minute.  While readings find new ranges, a pause lasts a second at most, or 64 times as long as a
 * reading.  So a program without such code pays for one reading in a minute after the first few,
 * and for none if walks come to no such address.
 *
 * The table is empty where nothing can be read: there is no /proc, or a filter of the program
 * forbids it (linux_filter.h).  It is empty, too, where all readable memory is executable
 * (READ_IMPLIES_EXEC, personality(2)).
 *
 * A forked child keeps the table.  All functions here are signal-safe and wait for no lock.  A
 * reading takes the tables' lock if it is free, and 800 bytes of stack.
 */
#ifndef LEAKWRAP_OTHER_CODE_H
#define LEAKWRAP_OTHER_CODE_H

#include <stdbool.h>
#include <stdint.h>

#ifndef LEAKWRAP_BARE
/* Returns true if ADDRESS lay in executable memory outside of modules at the latest reading.  It
 * may have been unmapped since.  No system call. */
bool leakwrap_is_other_code(uintptr_t address);

/* Reads the ranges if the pause is over.  With IS_URGENT no pause lasts more than a second, unless
 * readings take long.  At least one system call, for the clock. */
void leakwrap_other_code_read(bool is_urgent);

/* Does what leakwrap_other_code_read(false) does, at one call of 16: for words that may be an
 * address of code. */
void leakwrap_other_code_read_at_times(void);

/* To be asked for an ADDRESS that is not in the table.  Returns true if there was a reading since
 * the first question, and it has not found ADDRESS.  Returns false if the next reading may find it.
 * Few addresses are remembered. */
bool leakwrap_other_code_note_missed(uintptr_t address);

/* Sets the function that is called after a reading has found new ranges: walks may then go further
 * than before.  It is called with the tables' lock held, so signals are blocked.  The runtime sets
 * it once at its start. */
void leakwrap_other_code_set_change_hook(void (*on_change)(void));
#else
static inline bool leakwrap_is_other_code(uintptr_t address)
{
	(void)address;
	return false;
}

static inline void leakwrap_other_code_read_at_times(void)
{
}
#endif

#endif
