/* validate.c - validate SCHEMA DOCUMENT: checks that a JSON document fits a schema. It knows the
 * part of JSON Schema that tests/tool/report.schema.json uses: type, enum, const, pattern-free
 * strings, properties, required, additionalProperties (false or a schema), items, minimum, maximum,
 * and $ref to #/$defs/NAME. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const json_t *root;

static bool wrong(const char *where, const char *what)
{
	fprintf(stderr, "%s: %s\n", where, what);
	return false;
}

static bool is_type(const json_t *value, const char *type)
{
	return (strcmp(type, "object") == 0 && json_is_object(value)) ||
	       (strcmp(type, "array") == 0 && json_is_array(value)) ||
	       (strcmp(type, "string") == 0 && json_is_string(value)) ||
	       (strcmp(type, "integer") == 0 && json_is_integer(value)) ||
	       (strcmp(type, "number") == 0 && json_is_number(value)) ||
	       (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
	       (strcmp(type, "null") == 0 && json_is_null(value));
}

static bool fits_type(const json_t *schema, const json_t *value)
{
	const json_t *type = json_object_get(schema, "type"), *one;
	size_t i;
	if (!type || json_is_string(type))
		return !type || is_type(value, json_string_value(type));
	json_array_foreach(type, i, one) if (is_type(value, json_string_value(one))) return true;
	return false;
}

static bool fits_enum(const json_t *schema, const json_t *value)
{
	const json_t *all = json_object_get(schema, "enum"), *one;
	const json_t *constant = json_object_get(schema, "const");
	size_t i;
	if (constant && !json_equal(constant, value))
		return false;
	if (!all)
		return true;
	json_array_foreach(all, i, one) if (json_equal(one, value)) return true;
	return false;
}

static bool fits(const json_t *schema, const json_t *value, const char *where);

static bool fits_object(const json_t *schema, const json_t *value, const char *where)
{
	json_t *properties = json_object_get(schema, "properties");
	const json_t *required = json_object_get(schema, "required"), *one, *member;
	size_t i;
	const char *key;
	char inner[1024];

	json_array_foreach(required, i, one)
	{
		snprintf(inner, sizeof inner, "%s.%s", where, json_string_value(one));
		if (!json_object_get(value, json_string_value(one)))
			return wrong(inner, "is missing");
	}
	json_object_foreach((json_t *)value, key, member)
	{
		const json_t *own = json_object_get(properties, key);
		const json_t *others = json_object_get(schema, "additionalProperties");
		snprintf(inner, sizeof inner, "%s.%s", where, key);
		if (!own && json_is_false(others))
			return wrong(inner, "is not in the schema");
		if (!own)
			own = others;
		if (own && !fits(own, member, inner))
			return false;
	}
	return true;
}

static bool fits(const json_t *schema, const json_t *value, const char *where)
{
	const char *reference = json_string_value(json_object_get(schema, "$ref"));
	if (reference && strncmp(reference, "#/$defs/", 8) == 0)
		schema = json_object_get(json_object_get(root, "$defs"), reference + 8);
	if (!schema)
		return wrong(where, "the schema refers to nothing");
	if (!fits_type(schema, value))
		return wrong(where, "is of the wrong type");
	if (!fits_enum(schema, value))
		return wrong(where, "is not one of the allowed values");
	const json_t *least = json_object_get(schema, "minimum"),
	             *most = json_object_get(schema, "maximum");
	if (json_is_number(value) &&
	    ((least && json_number_value(value) < json_number_value(least)) ||
	     (most && json_number_value(value) > json_number_value(most))))
		return wrong(where, "is out of range");
	if (json_is_object(value))
		return fits_object(schema, value, where);
	const json_t *items = json_object_get(schema, "items"), *item;
	size_t i;
	char inner[1024];
	json_array_foreach(value, i, item)
	{
		snprintf(inner, sizeof inner, "%s[%zu]", where, i);
		if (items && !fits(items, item, inner))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	json_error_t error;
	if (argc != 3)
		return 2;
	root = json_load_file(argv[1], 0, &error);
	if (!root) {
		fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text);
		return 2;
	}
	json_t *document = json_load_file(argv[2], JSON_REJECT_DUPLICATES, &error);
	if (!document) {
		fprintf(stderr, "%s:%d: %s\n", argv[2], error.line, error.text);
		return 1;
	}
	bool fine = fits(root, document, "");
	json_decref(document);
	json_decref((json_t *)root);
	return fine ? 0 : 1;
}
