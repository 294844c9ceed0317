/* push.c - see push.h. */
#include "tools/live/push.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/render/json_text.h"

/* Ends a part of a form.  Compressed bytes have this text by a chance of one in 2^200. */
static const char boundary[] = "leakwrap-3d9b1c5f7e2a4860";

/* Writes TEXT with %XX for what may not stand in a query. */
static void put_query(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (isalnum((unsigned char)*text) || strchr("-._~", *text))
			putc(*text, stream);
		else
			fprintf(stream, "%%%02X", (unsigned)(unsigned char)*text);
	}
}

static struct push_request make_pyroscope(const struct pushed *pushed)
{
	struct push_request request = {0};
	char *name = NULL;
	size_t size;
	FILE *stream = open_bytes(&name, &size);

	fputs(pushed->name, stream);
	for (size_t i = 0; i < pushed->label_count; i++)
		fprintf(stream, "%s%s=%s", i ? "," : "{", pushed->labels[i].name,
		        pushed->labels[i].value);
	fputs(pushed->label_count ? "}" : "", stream);
	fclose(stream);
	stream = open_bytes(&request.path, &size);
	fputs("/ingest?name=", stream);
	put_query(stream, name);
	fprintf(stream, "&from=%" PRId64 "&until=%" PRId64 "&format=pprof&spyName=leakwrap",
	        pushed->from, pushed->until);
	fclose(stream);
	free(name);

	stream = open_bytes(&request.body, &request.size);
	fprintf(stream,
	        "--%s\r\nContent-Disposition: form-data; name=\"profile\"; "
	        "filename=\"profile.pprof\"\r\nContent-Type: application/octet-stream\r\n\r\n",
	        boundary);
	fwrite(pushed->profile, 1, pushed->size, stream);
	fprintf(stream,
	        "\r\n--%s\r\nContent-Disposition: form-data; name=\"sample_type_config\"; "
	        "filename=\"config.json\"\r\nContent-Type: application/json\r\n\r\n"
	        "{\"inuse_objects\":{\"units\":\"objects\",\"aggregation\":\"average\","
	        "\"display-name\":\"inuse_objects\",\"sampled\":false},"
	        "\"inuse_space\":{\"units\":\"bytes\",\"aggregation\":\"average\","
	        "\"display-name\":\"inuse_space\",\"sampled\":false}}\r\n--%s--\r\n",
	        boundary, boundary);
	fclose(stream);
	if (asprintf(&request.type, "multipart/form-data; boundary=%s", boundary) < 0)
		die("out of memory");
	return request;
}

/* Returns BYTES in base 64 (RFC 4648), as JSON of protocol buffers has bytes. */
static char *encode_base64(const char *bytes, size_t size)
{
	static const char digits[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = (const unsigned char *)bytes;
	char *text = xmalloc((size + 2) / 3 * 4 + 1), *out = text;
	for (size_t i = 0; i < size; i += 3) {
		unsigned word = (unsigned)in[i] << 16 |
		                (i + 1 < size ? (unsigned)in[i + 1] << 8 : 0) |
		                (i + 2 < size ? in[i + 2] : 0);
		*out++ = digits[word >> 18];
		*out++ = digits[word >> 12 & 63];
		*out++ = i + 1 < size ? digits[word >> 6 & 63] : '=';
		*out++ = i + 2 < size ? digits[word & 63] : '=';
	}
	*out = '\0';
	return text;
}

static void add_label(json_t *labels, const char *name, const char *value)
{
	json_t *label = json_object();

	set_json(label, "name", text_json(name));
	set_json(label, "value", text_json(value));
	append_json(labels, label);
}

static struct push_request make_parca(const struct pushed *pushed)
{
	struct push_request request = {.path = xstrdup("/profiles/writeraw"),
	                               .type = xstrdup("application/json")};
	char *profile = encode_base64(pushed->profile, pushed->size);
	json_t *labels = json_array();

	add_label(labels, "__name__", "memory");
	add_label(labels, "job", pushed->name);
	for (size_t i = 0; i < pushed->label_count; i++)
		add_label(labels, pushed->labels[i].name, pushed->labels[i].value);
	json_t *root = json_pack("{s:b, s:[{s:{s:o}, s:[{s:s}]}]}", "normalized", 0, "series",
	                         "labels", "labels", labels, "samples", "rawProfile", profile);
	request.body = root ? json_dumps(root, JSON_COMPACT) : NULL;
	if (!request.body)
		die("out of memory");
	request.size = strlen(request.body);
	json_decref(root);
	free(profile);
	return request;
}

struct push_request push_request_make(enum push_protocol protocol, const struct pushed *pushed)
{
	return protocol == PUSH_PARCA ? make_parca(pushed) : make_pyroscope(pushed);
}

void push_request_free(struct push_request *request)
{
	free(request->path);
	free(request->type);
	free(request->body);
}
