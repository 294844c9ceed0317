/* push.h - what the two servers of profiles want to be sent. */
#ifndef TOOLS_LIVE_PUSH_H
#define TOOLS_LIVE_PUSH_H

#include <stddef.h>
#include <stdint.h>

enum push_protocol { PUSH_PYROSCOPE, PUSH_PARCA };

struct label {
	const char *name, *value;
};

/* A profile on its way. */
struct pushed {
	const char *name; /* of the program */
	const struct label *labels;
	size_t label_count;
	int64_t from, until; /* seconds since 1970 */
	const char *profile; /* pprof, compressed by gzip */
	size_t size;
};

/* A request of HTTP.  Its strings are malloc's, and push_request_free frees them. */
struct push_request {
	char *path; /* with the query */
	char *type; /* Content-Type */
	char *body;
	size_t size;
};

/* Returns the request by which PUSHED is sent.
 *
 * Grafana Pyroscope: POST /ingest?name=APP{LABELS}&from=&until=&format=pprof, a form with the parts
 * "profile" and "sample_type_config" (its server API, "Ingest").  Parca: POST /profiles/writeraw,
 * JSON of parca.profilestore.v1alpha1.WriteRawRequest. */
struct push_request push_request_make(enum push_protocol protocol, const struct pushed *pushed);

void push_request_free(struct push_request *request);

#endif
