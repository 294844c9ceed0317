/* fleet.h - the logs of many processes as one report, in memory that is bounded by the number of
 * different call sites, and by the dumps of one log.
 */
#ifndef TOOLS_MODEL_FLEET_H
#define TOOLS_MODEL_FLEET_H

#include "tools/model/model.h"

struct fleet_options {
	/* Where the path of a log has the name of its host: a pattern with %h for the name and *
	 * for any text, "logs/%h-*.log".  Or NULL: hosts are not known. */
	const char *hosts;
	bool growth;    /* rank by growth, and leave out what did not grow */
	unsigned kinds; /* what counts, see merge_start */
};

/* Sorts LOGS, reads them, and adds to REPORT one dump that is the sum of the last dumps of all
 * processes (merge.h).  A process is in one log, or in several with ascending numbers of its dumps.
 * Dumps of misuse are added as by report_add.  Returns false, after messages, if a log cannot be
 * read or holds no dump.  A part of a rotated log may hold no dump if another part holds one. */
bool fleet_add(struct report *report, const char **logs, size_t count,
               const struct fleet_options *options);

#endif
