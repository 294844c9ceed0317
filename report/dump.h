/* dump.h - writes dumps: on a signal, at exit, and when the program asks.
 *
 * One dump is written at a time; the writing thread has the turn.  A signal that arrives during a
 * dump leaves a request.  The writing thread serves the request after its own dump, unless another
 * thread waits for the turn: then that thread serves it.  All other callers wait for their turn.
 *
 * A dump goes to the descriptor that the option log= leads to (log_file.h).  All functions but
 * leakwrap_dump_start may run in signal handlers. */
#ifndef LEAKWRAP_DUMP_H
#define LEAKWRAP_DUMP_H

#include <stdbool.h>

#include "wrap/signal/crash.h"
#include "wrap/misuse/misuse.h"

struct leakwrap_trigger; /* dump_writer.h */

/* Prepares dumps: remembers standard error and the program's name.  Called once at start. */
void leakwrap_dump_start(void);

/* Resets the state of dumps.  Called in a forked child: a dump that another thread of the parent
 * was writing does not go on here. */
void leakwrap_dump_reset_in_child(void);

/* Requests a dump, and writes it unless another thread does.  Called by the handler of the dump
 * signal.  WANTS_KINDS: the dump tells lost from reachable memory.  CONTEXT: the handler's third
 * argument; NULL if no handler runs. */
void leakwrap_dump_on_signal(bool wants_kinds, const void *context);

/* Writes a dump with the trace of FAULT, which stays the caller's.  Called by the handler of a
 * fatal signal or exception. */
void leakwrap_dump_crash(const struct leakwrap_fault *fault);

/* Writes a dump that shows MISUSE alone.  MISUSE stays the caller's. */
void leakwrap_dump_misuse(const struct leakwrap_misuse *misuse);

/* Writes a dump for REASON that TRIGGER, which stays the caller's, has made due.  Returns false and
 * writes nothing if another thread writes a dump. */
bool leakwrap_dump_unasked(const char *reason, const struct leakwrap_trigger *trigger);

/* Ends the turn of the thread that writes a dump.  Called without an operating system, when an
 * exception has stopped that thread for good. */
void leakwrap_dump_abandon(void);

/* Writes the exit dump.  Called when the process ends.  ALL: the dump shows all live blocks.  Else
 * it shows the blocks that the process has allocated since it was forked.  Then there is no dump if
 * there are no such blocks, or if earlier children have shown their call sites. */
void leakwrap_dump_at_exit(bool all);

#endif
