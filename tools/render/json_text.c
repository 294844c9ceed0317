/* json_text.c - see json_text.h. */
#include "tools/render/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/text.h"

void set_json(json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new(object, key, value) != 0)
		die("out of memory");
}

void append_json(json_t *array, json_t *value)
{
	if (!value || json_array_append_new(array, value) != 0)
		die("out of memory");
}

json_t *text_json(const char *value)
{
	if (!value)
		return json_null();
	json_t *string = json_string(value);
	if (string)
		return string;
	struct arena arena = {0};
	char *escaped = arena_alloc(&arena, 4 * strlen(value) + 1), *p = escaped;
	for (struct character c; *value; value += c.length) {
		c = character_at(value);
		if (c.length == 1 && c.code >= 0x80)
			p += sprintf(p, "\\x%02x", c.code);
		else
			p = mempcpy(p, value, c.length);
	}
	string = json_string(escaped);
	arena_free(&arena);
	return string;
}

json_t *number_json(uint64_t value)
{
	return json_integer((json_int_t)value);
}

json_t *hex_json(uint64_t value)
{
	char digits[24];
	snprintf(digits, sizeof digits, "0x%" PRIx64, value);
	return json_string(digits);
}

/* Writes VALUE but for its last LEFT_OUT bytes, as FLAGS of jansson say, and frees it. */
static void put_part(FILE *stream, json_t *value, size_t left_out, size_t flags)
{
	char *string = json_dumps(value, flags | JSON_REAL_PRECISION(15));
	if (!string)
		die("out of memory");
	string[strlen(string) - left_out] = '\0';
	for (const char *rest = string; *rest;) {
		size_t span = text_span(rest);
		fwrite(rest, 1, span, stream);
		rest += span;
		if (*rest == '\n') { /* in a string, jansson has escaped it */
			putc(*rest++, stream);
		} else if (*rest) {
			struct character c = character_at(rest);
			fprintf(stream, "\\u%04x", c.code);
			rest += c.length;
		}
	}
	free(string);
	json_decref(value);
}

void put_json(FILE *stream, json_t *value, unsigned indent)
{
	put_part(stream, value, 0, indent ? JSON_INDENT(indent) : JSON_COMPACT);
}

void put_open_json(FILE *stream, json_t *object)
{
	put_part(stream, object, 1, JSON_COMPACT);
}
