/* bare_port.h - what the port without an operating system adds to port.h. */
#ifndef LEAKWRAP_BARE_PORT_H
#define LEAKWRAP_BARE_PORT_H

#include <stdbool.h>

/* Set by the exception handlers of leakwrap_bare.h.  From then on no other code runs, and a lock
 * that is held is never released: nobody waits for it. */
extern bool leakwrap_fault_is_handled;

/* Set while a scan for lost memory holds the lock: the functions that it calls do not take it. */
extern bool leakwrap_lock_is_held;

#endif
