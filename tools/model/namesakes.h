/* namesakes.h - the processes that had one process id.  In containers many processes have the same.
 *
 * The dumps of one process have one program, one command line and one place in memory, and the
 * uptime of the machine ascends with their numbers.  What a dump lacks shows nothing.
 */
#ifndef TOOLS_MODEL_NAMESAKES_H
#define TOOLS_MODEL_NAMESAKES_H

#include "tools/base/memory.h"
#include "tools/base/table.h"
#include "tools/model/model.h"

/* A process.  Its owner keeps it at its address as long as it is among others. */
struct namesake {
	const struct dump *last; /* its last dump so far */
	/* namesakes.c's own: */
	uint64_t place;                  /* in memory; 0: not known */
	struct namesake *older;          /* with the same id, or NULL */
	struct namesake *older_at_place; /* with the same id and place, or NULL */
};

/* Processes.  All 0 at first. */
struct namesakes {
	struct table chains; /* by id, and by id and place */
	struct arena arena;
};

/* Returns the process of NAMESAKES that DUMP may come from, or NULL.  Of several it is one at the
 * place of DUMP if that is known, and then the newest.  It compares DUMP with processes whose place
 * is known to be another only if that of DUMP is not known. */
struct namesake *find_namesake(struct namesakes *namesakes, const struct dump *dump);

/* Adds NEW, whose dump is DUMP, to NAMESAKES. */
void add_namesake(struct namesakes *namesakes, struct namesake *new, const struct dump *dump);

/* Makes DUMP the last dump of NAMESAKE, which is in NAMESAKES.  IS_OTHER: it is the first dump of
 * another process with this id, whose place NAMESAKE takes over. */
void renew_namesake(struct namesakes *namesakes, struct namesake *namesake, const struct dump *dump,
                    bool is_other);

/* Removes all from NAMESAKES. */
void free_namesakes(struct namesakes *namesakes);

#endif
