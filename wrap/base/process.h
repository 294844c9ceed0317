/* process.h - which process this is, and which other processes are its relatives. */
#ifndef LEAKWRAP_PROCESS_H
#define LEAKWRAP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

/* Notes that the memory belongs to the running process.  Called at start. */
void leakwrap_process_start(void);

/* Call around fork, in handlers of pthread_atfork.  One thread at a time calls the first before
 * fork.  The child calls the second after fork. */
void leakwrap_process_before_fork(void);
void leakwrap_process_reset_in_child(void);

/* Returns whether a fork has made this process, which has executed no program since.
 * Signal-safe. */
bool leakwrap_process_is_forked(void);

/* Notes that a thread of this process has recorded an allocation.  Signal-safe. */
void leakwrap_process_note_record(void);

/* Returns whether a thread of this process has recorded an allocation; in a forked child, since the
 * fork.  Signal-safe. */
bool leakwrap_process_has_recorded(void);

/* Call around exec: the first before it, the second if exec fails.  In between the process is no
 * relative, because another program replaces it.  In a child of vfork both do nothing. */
void leakwrap_process_prepare_exec(void);
void leakwrap_process_cancel_exec(void);

/* Returns whether the running process owns this memory.  A child of vfork runs in its parent's
 * memory, and does not.  Neither does a child of _Fork or clone, in which no handler of
 * pthread_atfork ran.  Signal-safe. */
bool leakwrap_process_owns_memory(void);

/* Returns whether PID is a relative.  A relative is another process, perhaps already ended.  It
 * descends by fork from the same exec, as parent, child or sibling, and has executed no program
 * since.  The parent always counts, even after an exec of its own.  Relatives share a table of
 * 1,024 processes, in which a process replaces an older one whose id is equal modulo 1,024.  A
 * process that is not in the table counts as a relative if /proc shows that it has the memory
 * layout of this process.  Signal-safe; takes 1 KiB of stack. */
bool leakwrap_process_is_relative(int pid);

/* The exit dumps of forked children, in memory that all relatives share.  Signal-safe. */

/* Records that an exit dump shows a call site whose backtrace has KEY.  Returns whether no relative
 * has recorded KEY before. */
bool leakwrap_relatives_record_shown(uint32_t key);

/* Counts a child that may dump.  Returns the number of children counted before. */
uint32_t leakwrap_relatives_count_child(void);

/* Counts a child that leaves its exit dump out.  The second function returns their number. */
void leakwrap_relatives_count_silent(void);
uint32_t leakwrap_relatives_silent_count(void);

#endif
