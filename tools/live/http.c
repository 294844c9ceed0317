/* http.c - see http.h. */
#include "tools/live/http.h"

#if __has_include(<microhttpd.h>)

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

enum { BODY_MAX = 64 * 1024 }; /* of a POST, which only has addresses */

/* The body of a POST so far. */
struct body {
	char *text;
	size_t size, room;
	bool too_long;
};

/* Returns true if HOST, of the header Host, is NAME with or without a port. */
static bool is_host(const char *host, const char *name)
{
	const size_t length = strlen(name);
	return strncasecmp(host, name, length) == 0 &&
	       (host[length] == '\0' || host[length] == ':');
}

/* Returns false if a name that another host controls may stand behind the request: a page of
 * another site could then read from this server (DNS rebinding).  Only matters on loopback, where
 * there is no proxy to ask for a password. */
static bool is_own_host(const struct http *http, struct MHD_Connection *connection)
{
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	return !http->loopback || !host || is_host(host, http->loopback) ||
	       is_host(host, "localhost") || is_host(host, "127.0.0.1") || is_host(host, "[::1]");
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct web_reply reply)
{
	struct MHD_Response *response =
	        MHD_create_response_from_buffer_with_free_callback(reply.size, reply.body, free);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", reply.type);
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	enum MHD_Result result = MHD_queue_response(connection, reply.status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why)
{
	return send_reply(connection, (struct web_reply){status, "text/plain; charset=utf-8",
	                                                 xstrdup(why), strlen(why)});
}

enum MHD_Result http_take_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **state)
{
	struct http *http = context;
	struct body *body = *state;
	bool is_post = strcmp(method, "POST") == 0;

	(void)version;
	if (!body) { /* the headers have come */
		*state = xzalloc(sizeof *body);
		return MHD_YES;
	}
	if (*size) {
		if (body->size + *size > BODY_MAX) {
			body->too_long = true;
		} else {
			GROW(body->text, body->room, body->size + *size + 1);
			memcpy(body->text + body->size, data, *size);
			body->size += *size;
			body->text[body->size] = '\0';
		}
		*size = 0;
		return MHD_YES;
	}
	if (!is_own_host(http, connection))
		return refuse(connection, 403, "this server is for localhost\n");
	if (!is_post && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(connection, 405, "GET is the method\n");
	if (body->too_long)
		return refuse(connection, 413, "the body is too long\n");
	const struct web_request request = {
	        .path = url,
	        .seconds =
	                MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "seconds"),
	        .debug = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "debug"),
	        .kinds = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "kinds"),
	        .body = body->text ? body->text : "",
	        .client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
	                          ->connect_fd,
	};
	return send_reply(connection, web_answer(&http->web, &request));
}

void http_end_request(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code)
{
	struct body *body = *state;
	(void)context, (void)connection, (void)code;
	if (body)
		free(body->text);
	free(body);
	*state = NULL;
}

#endif
