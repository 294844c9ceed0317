/* web.h - the pages of `leakwrap serve`: from a request to its answer.
 *
 * A path names a page and, behind /process/, a process id or the name of a program, which is
 * compared with those of the targets.  If these are several, the page is of their sum.  Nothing of
 * a request is ever used as the name of a file.
 */
#ifndef TOOLS_LIVE_WEB_H
#define TOOLS_LIVE_WEB_H

#include "tools/live/sum.h"

/* What the pages are made of. */
struct web {
	struct watch *watch;
	struct sum *sum;    /* of some targets that a client asked for, or NULL */
	uint64_t sum_state; /* which targets and dumps it adds up */
};

struct web_request {
	const char *path;
	const char *seconds, *debug, *kinds; /* the parameters, or NULL */
	const char *body;                    /* of a POST, or "" */
	int client;                          /* the socket of the connection */
};

struct web_reply {
	unsigned status; /* of HTTP */
	const char *type;
	char *body; /* the caller frees it */
	size_t size;
};

/* Answers REQUEST.  Takes the lock of the watch itself, and may wait for dumps. */
struct web_reply web_answer(struct web *web, const struct web_request *request);

#endif
