/* sum.c - see sum.h. */
#include "tools/live/sum.h"

#include <stdlib.h>

struct sum *sum_make(struct watch *watch, struct target *const *targets, size_t count)
{
	struct sum *sum = xzalloc(sizeof *sum);
	struct report *report = &watch->report;
	int64_t seconds = -1;
	size_t added = 0;

	report->dump_arena = &sum->arena;
	struct merger *merger = merge_start(report, 0);
	for (size_t i = 0; i < count; i++) {
		const struct dump *last = watch_last(targets[i]);
		const struct dump_list one = {&last, 1};
		if (!last)
			continue;
		merge_process(merger, &one, NULL);
		seconds = last->seconds > seconds ? last->seconds : seconds;
		added++;
	}
	struct dump *dump = merge_finish(merger, false);
	dump->seconds = seconds; /* a profile has one time */
	sum->dump = dump;
	report->dump_arena = &report->arena;
	if (added)
		return sum;
	sum_free(sum);
	return NULL;
}

void sum_free(struct sum *sum)
{
	if (!sum)
		return;
	arena_free(&sum->arena);
	free(sum->profile);
	free(sum);
}
