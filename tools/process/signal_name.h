/* signal_name.h - the names of signals, as the option signal= takes them. */
#ifndef TOOLS_PROCESS_SIGNAL_NAME_H
#define TOOLS_PROCESS_SIGNAL_NAME_H

#include "tools/base/memory.h"

/* Returns the number of the signal NAME: "USR1", "SIGUSR1", "10" or "RTMIN+3".  Returns 0 for
 * "none", and -1 if there is no such signal. */
int signal_number(const char *name);

/* Returns the name of signal NUMBER.  The string is a constant, or ARENA's. */
const char *signal_name(struct arena *arena, int number);

#endif
