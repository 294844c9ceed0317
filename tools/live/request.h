/* request.h - a request for a dump of a process.
 *
 * The caller goes on with it now and then, and may go on with many at once: none waits for its
 * process.
 */
#ifndef TOOLS_LIVE_REQUEST_H
#define TOOLS_LIVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "tools/base/memory.h"
#include "tools/process/dump_log.h"
#include "tools/process/target_process.h"

struct request {
	struct target_process process;
	struct dump_log log;
	struct arena arena;
	double began; /* in seconds of the caller's clock; 0: not yet */
	bool waits;   /* for the dump, or until the process takes the signal */
	bool sent;    /* the signal */
	bool is_late; /* no dump came within the timeout */
	char *raw;    /* the text of the dump, which the caller frees; NULL: none */
	size_t raw_size;
	FILE *errors; /* the messages of this request, which come to ERROR */
	char *error;
	size_t error_size;
};

/* Begins REQUEST, all of whose bytes are 0, to process PID at the time NOW. */
void request_begin(struct request *request, pid_t pid, double now);

/* Goes on with REQUEST as far as its process allows at the time NOW.  It may take TIMEOUT seconds
 * in all.  KINDS: it asks for a dump that tells lost from reachable memory. */
void request_go_on(struct request *request, bool kinds, double now, double timeout);

/* Returns the first message of REQUEST, which the caller frees, or NULL.  No more may come. */
char *request_take_error(struct request *request);

/* Frees what belongs to REQUEST, but not its dump and its messages. */
void request_free(struct request *request);

#endif
