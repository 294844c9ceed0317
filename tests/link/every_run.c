/* every_run.c - runs the cases of every.h. */
#include <stdio.h>
#include <string.h>

#include "every.h"

static struct {
	void *block;
	releaser *release;
} kept[256];
static unsigned kept_count;

static size_t case_bytes;
static unsigned case_blocks;
static const char *case_how;

void keep(void *block, size_t bytes, releaser *release)
{
	if (!block) {
		puts("a function failed that must not");
		return;
	}
	kept[kept_count].block = block;
	kept[kept_count++].release = release;
	case_bytes += bytes;
	case_blocks++;
}

void at_least(void)
{
	case_how = "least";
}

int run_cases(const struct case_entry *cases, const char *argument)
{
	for (; cases->name; cases++) {
		printf("called %s\n", cases->name);
		case_bytes = case_blocks = 0;
		case_how = "exact";
		cases->function();
		if (strcmp(argument, "free") != 0) {
			if (case_blocks > 0)
				printf("leaks called_%s %zu %u %s\n", cases->name, case_bytes,
				       case_blocks, case_how);
			continue;
		}
		while (kept_count > 0) {
			kept_count--;
			kept[kept_count].release(kept[kept_count].block);
		}
	}
	return 7;
}
