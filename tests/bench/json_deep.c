/* json_deep.c - parses, copies and prints deeply nested documents. Recursion makes deep stacks, in
 * a prebuilt archive. */
#include "workload.h"

#include <jansson.h>

enum { TREES = 40, DEPTH = 22 };

/* Writes arrays in objects in arrays: one branch down to the full depth, and short side
 * branches. */
static void write_tree(FILE *stream, unsigned depth, unsigned *random)
{
	if (depth == 0) {
		fprintf(stream, "[%u, \"text %u\", null, true]", workload_random(random),
		        workload_random(random) % 1000);
		return;
	}
	fprintf(stream, "{\"k%u\": [\"name\", %u.5", workload_random(random) % 10, depth);
	for (unsigned i = workload_random(random) % 3; i > 0; i--) {
		fputs(", ", stream);
		write_tree(stream, workload_random(random) % (depth < 5 ? depth : 5), random);
	}
	fputs("], \"down\": ", stream);
	write_tree(stream, depth - 1, random);
	fputs("}", stream);
}

/* Returns the text of an array of trees. The caller frees it. */
static char *forest(void)
{
	unsigned random = 1;
	size_t size;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &size);

	workload_check(stream, "open_memstream");
	for (unsigned i = 0; i < TREES; i++) {
		fputs(i == 0 ? "[" : ",\n", stream);
		write_tree(stream, DEPTH, &random);
	}
	fputs("]", stream);
	workload_check(fclose(stream) == 0, "fclose");
	return text;
}

int main(int argc, char **argv)
{
	struct workload workload = workload_of(argc, argv);
	char *text = forest();
	size_t sum = 0;

	json_object_seed(1); /* otherwise the objects' tables differ from run to run */
	for (unsigned i = workload_part(&workload, 100); i > 0; i--) {
		json_t *parsed = json_loads(text, 0, NULL);
		json_t *copy = json_deep_copy(parsed);
		char *printed = json_dumps(copy, JSON_SORT_KEYS);

		workload_check(printed, "json_dumps");
		sum += strlen(printed);
		if (workload.keep)
			break;
		free(printed);
		json_decref(copy);
		json_decref(parsed);
	}
	printf("%zu\n", sum);
	if (!workload.keep)
		free(text);
	return 0;
}
