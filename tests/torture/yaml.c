/* yaml.c - a document is loaded and written again. */
#include <string.h>
#include <yaml.h>

static const char text[] = "%YAML 1.1\n---\nshop: &anchor\n  - name: Tea\n    price: 5\n"
                           "  - {name: \"Cof\\x66ee\", price: 7, tags: [a, b, 'c d']}\n"
                           "other: *anchor\nlong: >\n  folded text\n  in lines\n...\n";

int main(void)
{
	static unsigned char out[10000];
	yaml_parser_t parser;
	yaml_emitter_t emitter;
	yaml_document_t document;
	size_t written = 0;
	int failed = 1, loaded;

	if (!yaml_parser_initialize(&parser))
		return 1;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, sizeof text - 1);
	loaded = yaml_parser_load(&parser, &document);
	if (loaded && !yaml_emitter_initialize(&emitter)) {
		yaml_document_delete(&document);
	} else if (loaded) {
		yaml_emitter_set_output_string(&emitter, out, sizeof out, &written);
		/* yaml_emitter_dump takes the document over. */
		failed = !yaml_emitter_open(&emitter) || !yaml_emitter_dump(&emitter, &document) ||
		         !yaml_emitter_close(&emitter);
		yaml_emitter_delete(&emitter);
	}
	yaml_parser_delete(&parser);
	return failed;
}
