/* fault.h - the state of the exception handlers, which write the fault trace. */
#ifndef LEAKWRAP_FAULT_H
#define LEAKWRAP_FAULT_H

#include <stdbool.h>

/* Returns true if a handler of leakwrap_bare.h runs.  Then no other code runs any more, and a lock
 * that is held is never released. */
bool leakwrap_fault_is_handled(void);

#endif
