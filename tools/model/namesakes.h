/* namesakes.h - the processes that had one process id.  In containers many processes have the same.
 */
#ifndef TOOLS_NAMESAKES_H
#define TOOLS_NAMESAKES_H

#include "tools/model/model.h"

struct namesakes {
	unsigned long pid;
	void *newest; /* set by the caller: the process met last; NULL: there is none yet */
};

/* Returns the namesakes with the id PID in TABLE, which it adds if they are missing.  They are
 * ARENA's. */
struct namesakes *namesakes_of(struct table *table, struct arena *arena, unsigned long pid);

/* Returns true if A and B, dumps of one process id, show that they are of different processes.  The
 * dumps of one process have one program, one command line and one place in memory, and the uptime
 * of the machine ascends with their numbers.  What one of the two dumps lacks shows nothing. */
bool is_other_process(const struct dump *a, const struct dump *b);

#endif
