/* command.h - the command line that started the program, for the head of a dump. */
#ifndef LEAKWRAP_COMMAND_H
#define LEAKWRAP_COMMAND_H

#include "report/line_writer.h"

/* Copies the command line.  Called at start, before the program can overwrite it. */
void leakwrap_command_read(void);

/* Writes the line "command" (format.h) to WRITER.  Writes nothing if the command line is not known.
 * Signal-safe. */
void leakwrap_command_write(struct leakwrap_writer *writer);

#endif
