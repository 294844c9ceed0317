/* fault.h - the handlers of processor exceptions, which write the fault trace. */
#ifndef LEAKWRAP_FAULT_H
#define LEAKWRAP_FAULT_H

#include <stdbool.h>

/* Does a handler of leakwrap_bare.h run?  Then nobody else does, and a lock that is held stays so. */
bool leakwrap_fault_is_handled(void);

#endif
