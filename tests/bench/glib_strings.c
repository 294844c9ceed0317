/* glib_strings.c - splits, joins, formats and counts words: short-lived blocks and a growing table,
 * in a prebuilt archive. */
#include "workload.h"

#include <glib.h>

enum { WORDS = 20000 };

static char *line_of(unsigned number, unsigned *random)
{
	GString *line = g_string_new(NULL);

	for (unsigned i = 0; i < 12; i++)
		g_string_append_printf(line, "%sword%u", i ? " " : "",
		                       workload_random(random) % WORDS);
	g_string_append_printf(line, " %u", number);
	return g_string_free(line, FALSE);
}

static void count_words(GHashTable *counts, const char *line)
{
	char **words = g_strsplit(line, " ", -1);

	for (char **word = words; *word; word++) {
		char *key = g_ascii_strup(*word, -1);
		gpointer count = g_hash_table_lookup(counts, key);

		g_hash_table_insert(counts, key, GUINT_TO_POINTER(GPOINTER_TO_UINT(count) + 1));
	}
	g_strfreev(words);
}

static size_t weight(const char *line)
{
	char **parts = g_strsplit_set(line, " 05", 0);
	char *joined = g_strjoinv("-", parts);
	char *key = g_strdup_printf("%u/%s", g_strv_length(parts), joined);
	GList *list = NULL;
	size_t sum = 0;

	for (char **part = parts; *part; part++)
		list = g_list_prepend(list, g_strreverse(g_strdup(*part)));
	for (GList *item = list; item; item = item->next)
		sum += strlen(item->data);
	g_list_free_full(list, g_free);
	sum += strlen(key);
	g_free(key);
	g_free(joined);
	g_strfreev(parts);
	return sum;
}

int main(int argc, char **argv)
{
	struct workload workload = workload_of(argc, argv);
	GHashTable *counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	unsigned random = 1;
	size_t sum = 0;

	for (unsigned i = workload_part(&workload, 150000); i > 0; i--) {
		char *line = line_of(i, &random);

		count_words(counts, line);
		sum += weight(line);
		g_free(line);
	}
	printf("%zu %u\n", sum, g_hash_table_size(counts));
	if (!workload.keep)
		g_hash_table_destroy(counts);
	return 0;
}
