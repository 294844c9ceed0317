/* namesakes.c - see namesakes.h. */
#include "tools/model/namesakes.h"

#include <string.h>

static bool same_pid(const void *key, const void *entry)
{
	return *(const unsigned long *)key == ((const struct namesakes *)entry)->pid;
}

struct namesakes *namesakes_of(struct table *table, struct arena *arena, unsigned long pid)
{
	const uint64_t hash = hash_word(0, pid);
	struct namesakes *namesakes = table_find(table, hash, &pid, same_pid);

	if (!namesakes) {
		namesakes = arena_alloc(arena, sizeof *namesakes);
		*namesakes = (struct namesakes){pid, NULL};
		table_add(table, hash, namesakes);
	}
	return namesakes;
}

static bool has_other_command(const struct dump *a, const struct dump *b)
{
	if (a->command_count == 0 || b->command_count == 0)
		return false;
	if (a->command_count != b->command_count)
		return true;
	for (size_t i = 0; i < a->command_count; i++)
		if (strcmp(a->command[i], b->command[i]) != 0)
			return true;
	return false;
}

/* Returns where the program itself lies, or NULL if DUMP does not tell. */
static const struct mapping *program_mapping(const struct dump *dump)
{
	for (size_t i = 0; i < dump->mapping_count; i++)
		if (dump->mappings[i].module->main)
			return &dump->mappings[i];
	return NULL;
}

/* Returns true if A and B have libraries in common, and none lies at the same address in both.  A
 * plugin that was loaded again may lie elsewhere in one process.  The C library may not. */
static bool has_libraries_elsewhere(const struct dump *a, const struct dump *b)
{
	bool has_common = false;

	for (size_t i = 0; i < a->mapping_count; i++) {
		const struct mapping *mapping = &a->mappings[i];
		for (size_t j = 0; j < b->mapping_count && !mapping->module->main; j++) {
			if (b->mappings[j].module != mapping->module)
				continue;
			if (b->mappings[j].bias == mapping->bias)
				return false;
			has_common = true;
		}
	}
	return has_common;
}

static bool is_elsewhere(const struct dump *a, const struct dump *b)
{
	const struct mapping *of_a = program_mapping(a), *of_b = program_mapping(b);

	if (of_a && of_b && of_a->bias != of_b->bias)
		return true;
	/* A program that is no PIE has the bias 0 in each process. */
	return (!of_a || !of_b || of_a->bias == 0) && has_libraries_elsewhere(a, b);
}

bool is_other_process(const struct dump *a, const struct dump *b)
{
	const struct dump *first = a->sequence < b->sequence ? a : b;
	const struct dump *later = first == a ? b : a;

	if (a->program && b->program && a->program != b->program)
		return true;
	if (first->uptime > 0 && later->uptime > 0 && first->uptime > later->uptime)
		return true;
	return has_other_command(a, b) || is_elsewhere(a, b);
}
