/* registers.h - reads the registers of interrupted code from the context of a signal handler.
 *
 * CONTEXT is the handler's third argument, a ucontext_t (sigaction(2)).  Without an operating
 * system it is the registers of an exception (leakwrap_fault).  Both functions are signal-safe. */
#ifndef LEAKWRAP_REGISTERS_H
#define LEAKWRAP_REGISTERS_H

#include "report/line_writer.h"
#include "wrap/unwind/trace.h"

/* Returns the registers from which a walk of the stack starts.  All are 0 if CONTEXT is NULL, or if
 * the architecture or the C library has no such context. */
struct leakwrap_regs leakwrap_registers_read(const void *context);

/* Writes all registers, by their names in the ABI, to lines "registers" (format.h) of WRITER.
 * Writes nothing if the architecture's header lists none. */
void leakwrap_registers_write(struct leakwrap_writer *writer, const void *context);

#endif
