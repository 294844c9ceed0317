/* nested_json.c [without] ROUNDS - a server that parses a random document, nested up to 30 deep,
 * for each request, and frees it.  After that it leaks ten documents, in leak_later.  With
 * "without" it only makes the documents' text, which is to be subtracted.
 *
 * Prints the tracer's system calls, walks and requests in the last tenth of the rounds. */
#include "tests/limits/endless.h"
#include "tests/limits/tracer_calls.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *volatile kept;
static char text[1 << 16];
static size_t used;

static void add(const char *piece)
{
	const size_t length = strlen(piece);

	if (used + length < sizeof(text))
		memcpy(text + used, piece, length + 1);
	used += length;
}

static void add_leaf(void)
{
	static const char *const leaves[] = {"1", "2.5", "\"text\"", "true"};

	add(leaves[next_random() % 4]);
}

/* An array or an object: some leaves, and one value that goes deeper. */
static void add_value(unsigned depth)
{
	const bool is_object = next_random() % 2;

	if (depth == 0) {
		add_leaf();
		return;
	}
	add(is_object ? "{" : "[");
	for (uint64_t i = 0, leaves = next_random() % 3; i < leaves; i++) {
		add(is_object ? (i ? "\"b\":" : "\"a\":") : "");
		add_leaf();
		add(",");
	}
	add(is_object ? "\"down\":" : "");
	add_value(depth - 1);
	add(is_object ? "}" : "]");
}

static void make_text(void)
{
	used = 0;
	add("[");
	add_value((unsigned)(next_random() % 30));
	add("]");
}

static __attribute__((noinline)) void leak_later(void)
{
	make_text();
	kept = json_loads(text, 0, NULL);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[argc - 1]) : 0, tenth = rounds / 10;
	const bool parses = argc == 2;
	unsigned long calls = 0, walked = 0;

	json_object_seed(1);
	for (long i = 0; i < rounds; i++) {
		if (i == rounds - tenth) {
			calls = tracer_calls;
			walked = walks();
		}
		make_text();
		if (parses) {
			kept = json_loads(text, 0, NULL);
			if (!kept)
				return 1;
			json_decref(kept);
		}
	}
	printf("%lu %lu %ld\n", tracer_calls - calls, walks() - walked, tenth);
	for (unsigned i = 0; parses && i < 10; i++)
		leak_later();
	return 0;
}
