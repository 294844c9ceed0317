/* model.c - see model.h. */
#include "tools/model/model.h"

#include <stdlib.h>

void report_start(struct report *report)
{
	*report = (struct report){0};
	report->strings.arena = &report->arena;
	report->dump_arena = &report->arena;
}

void report_free(struct report *report)
{
	free(report->dumps);
	free(report->misuses);
	free(report->modules);
	free(report->locations);
	free(report->stacks);
	table_free(&report->strings.table);
	table_free(&report->module_table);
	table_free(&report->location_table);
	table_free(&report->stack_table);
	table_free(&report->dump_table);
	table_free(&report->pid_table);
	arena_free(&report->arena);
}

const struct mapping *mapping_of(const struct dump *dump, const struct module *module)
{
	for (size_t i = 0; i < dump->mapping_count; i++)
		if (dump->mappings[i].module == module)
			return &dump->mappings[i];
	return NULL;
}

uint64_t raw_address(const struct dump *dump, const struct location *location)
{
	const struct mapping *mapping =
	        location->module ? mapping_of(dump, location->module) : NULL;
	return location->offset + (mapping ? mapping->bias : 0);
}
