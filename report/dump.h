/* dump.h - writes dumps: on a signal, at exit, and when the program asks.
 *
 * One dump is written at a time.  A signal that arrives during a dump leaves a request, which is served
 * after it by the thread that is writing, or by the next one that waits for its turn; everybody else waits. */
#ifndef LEAKWRAP_DUMP_H
#define LEAKWRAP_DUMP_H

#include <stdbool.h>

#include "wrap/signal/crash.h"
#include "wrap/misuse/misuse.h"

/* At start. */
void leakwrap_dump_start(void);

/* In a forked child: what another thread was writing in the parent is not written here. */
void leakwrap_dump_forked(void);

/* From the handler of the dump signal. */
void leakwrap_dump_on_signal(void);

/* From the handler of a fatal signal or exception. */
void leakwrap_dump_crash(const struct leakwrap_fault *fault);

/* The program has misused its heap: a dump of that alone. */
void leakwrap_dump_misuse(const struct leakwrap_misuse *misuse);

/* Without an operating system: an exception has stopped whoever was writing a dump, which never ends. */
void leakwrap_dump_abandon(void);

/* When the process ends.  ALL: of all its blocks; else of those that it has allocated since it was
 * forked, and none if there are no such blocks. */
void leakwrap_dump_at_exit(bool all);

#endif
