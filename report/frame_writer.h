/* frame_writer.h - writes one line for one frame of a backtrace (format.h).  Signal-safe; one thread at a time. */
#ifndef LEAKWRAP_FRAME_WRITER_H
#define LEAKWRAP_FRAME_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/module/modules.h"
#include "report/line_writer.h"

/* Frame LEVEL at PC; IS_RETURN: PC is a return address, and the call lies before it.  GONE: the module that was there, if another one has
 * taken its place, else NULL.  Returns the module that it lies in, or NULL. */
const struct leakwrap_module *leakwrap_frame_write(struct leakwrap_writer *writer, unsigned level,
                                                   uintptr_t pc, bool is_return,
                                                   const struct leakwrap_module *gone);

/* What such a line begins with: all that depends on where in the backtrace the frame is. */
void leakwrap_frame_begin(struct leakwrap_writer *writer, unsigned level);

#endif
