/* saved_registers.h - the registers of an interrupted thread, as the kernel saved them for the
 * handler of a signal. */
#ifndef LEAKWRAP_SAVED_REGISTERS_H
#define LEAKWRAP_SAVED_REGISTERS_H

/* Marks (mark.h) from all registers in the ucontext_t CONTEXT.  Those for vectors may have the only
 * pointer to a block while memory is moved.  The mappings have been read (maps.h). */
void leakwrap_saved_registers_mark(const void *context);

#endif
