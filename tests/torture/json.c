/* json.c - a document is parsed, changed and written. */
#include <json-c/json.h>
#include <string.h>

static const char text[] =
        "{\"name\": \"caf\\u00e9\", \"list\": [1, 2.5, true, null, \"a string "
        "that is longer than the others\"], \"deep\": {\"a\": {\"b\": [[], {}]}}}";

int main(void)
{
	struct json_object *document = json_tokener_parse(text), *list = NULL, *number;
	int failed = 1;

	if (document && json_object_object_get_ex(document, "list", &list)) {
		number = json_object_new_int(7);
		failed = !number;
		if (number && json_object_array_add(list, number) != 0) {
			json_object_put(number);
			failed = 1;
		}
		number = json_object_new_string("value");
		if (!number || json_object_object_add(document, "key", number) != 0) {
			json_object_put(number);
			failed = 1;
		}
		failed |= !json_object_to_json_string_ext(document, JSON_C_TO_STRING_PRETTY);
	}
	json_object_put(document);
	return failed;
}
