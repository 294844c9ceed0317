/* fault.h - the fault trace. */
#ifndef LEAKWRAP_FAULT_H
#define LEAKWRAP_FAULT_H

#include "wrap/signal/crash.h"

/* Writes the fault trace and does not return.  FAULT's context is a struct leakwrap_fault_frame.
 * Sets the task of FAULT.  Only the exception handlers call it. */
void leakwrap_fault_report(struct leakwrap_fault *fault) __attribute__((noreturn));

#endif
