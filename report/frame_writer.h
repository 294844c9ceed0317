/* frame_writer.h - writes the line of a frame of a backtrace (format.h).
 *
 * Both functions are signal-safe, and are called by the thread that writes the dump. */
#ifndef LEAKWRAP_FRAME_WRITER_H
#define LEAKWRAP_FRAME_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/module/module.h"
#include "report/line_writer.h"

/* Writes the line of frame LEVEL at PC to WRITER.  IS_RETURN: PC is a return address, and the call
 * is before it; else PC is an instruction that was interrupted.  GONE: the module that PC was in,
 * if it is not loaded any more; else NULL.  Stores the text of a return address in the
 * frame cache.  Returns the module that PC is or was in, or NULL if it is in no known module. */
const struct leakwrap_module *leakwrap_frame_write(struct leakwrap_writer *writer, unsigned level,
                                                   uintptr_t pc, bool is_return,
                                                   const struct leakwrap_module *gone);

/* Writes the line of frame LEVEL at the return address PC to WRITER from the frame cache.  Returns
 * false, and writes nothing, if the cache does not hold PC. */
#ifndef LEAKWRAP_BARE
bool leakwrap_frame_write_stored(struct leakwrap_writer *writer, unsigned level, uintptr_t pc);
#else
static inline bool leakwrap_frame_write_stored(struct leakwrap_writer *writer, unsigned level,
                                               uintptr_t pc)
{
	(void)writer, (void)level, (void)pc;
	return false;
}
#endif

#endif
