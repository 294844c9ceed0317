/* registers.h - what a signal handler is told of the registers that it interrupted. */
#ifndef LEAKWRAP_REGISTERS_H
#define LEAKWRAP_REGISTERS_H

#include <stdint.h>

#include "report/line_writer.h"
#include "wrap/unwind/unwind.h"

/* The registers that a walk starts from, from the handler's third argument (sigaction(2)). */
struct leakwrap_regs leakwrap_start_of(const void *context);

/* All registers by their names in the ABI, a few to a line of WRITER. */
void leakwrap_registers_write(struct leakwrap_writer *writer, const void *context);

#endif
