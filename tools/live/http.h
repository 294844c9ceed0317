/* http.h - between libmicrohttpd and the pages: requests, their bodies, and what is refused. */
#ifndef TOOLS_LIVE_HTTP_H
#define TOOLS_LIVE_HTTP_H

#include "tools/live/web.h"

#if __has_include(<microhttpd.h>)

#include <microhttpd.h>

struct http {
	struct web web;
	/* The loopback address on which the server listens, such as "127.0.0.2" or "[::1]".  NULL:
	 * it listens on others. */
	const char *loopback;
};

/* The callbacks of MHD_start_daemon and MHD_OPTION_NOTIFY_COMPLETED (microhttpd.h).  CONTEXT of
 * http_take_request is a struct http. */
enum MHD_Result http_take_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state);
void http_end_request(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code);

#endif

#endif
