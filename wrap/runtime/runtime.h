/* runtime.h - starts the tracer in its program. */
#ifndef LEAKWRAP_RUNTIME_H
#define LEAKWRAP_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/* Starts the tracer if it has not been started, and prepares the calling thread.  Call it when a
 * thread records its first allocation, or its first allocation since a fork.  Returns false while
 * the tracer is being started.  Preserves errno. */
bool leakwrap_runtime_enter(void);

/* Starts the tracer if it has not been started.  Preserves errno. */
void leakwrap_runtime_start(void);

/* Makes the signal of the option signal= ask for dumps.  Returns as
 * leakwrap_dump_signal_install. */
bool leakwrap_runtime_take_dump_signal(void);

/* From now on no signal asks for dumps.  Returns as leakwrap_dump_signal_release.  Preserves
 * errno. */
bool leakwrap_runtime_release_dump_signal(void);

/* Writes a dump if the options ask for one at the first failed allocation, and this is the first.
 * SIZE: the bytes that were asked for.  Preserves errno. */
#ifndef LEAKWRAP_BARE
void leakwrap_runtime_report_failure(size_t size);
#else
static inline void leakwrap_runtime_report_failure(size_t size)
{
	(void)size;
}
#endif

#endif
