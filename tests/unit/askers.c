/* askers.c - find_askers (tools/model/askers.c) keeps nothing of its own in the report: leakwrap
 * serve calls it for each dump with a new stack, as long as it runs.
 * sources: tools/model/askers.c tools/model/suppress.c tools/model/view.c tools/model/kinds.c
 * sources: tools/model/totals.c tools/model/model.c tools/log/draft.c tools/log/draft_numbers.c
 * sources: tools/log/parsed_dump.c tools/log/scan.c tools/base/memory.c tools/base/messages.c
 * sources: tools/base/files.c tools/base/numbers.c tools/base/table.c tools/base/text.c
 * flags: -lm */
#include "tools/base/memory.h"
#include "tools/base/table.h"
#include "tools/model/askers.h"

#include "unit.h"

enum { FUNCTIONS = 3000, DEPTH = 3, CALLS = 20 };

/* Adds a location in a function that is called NAME. */
static struct location *add_location(struct report *report, const char *name)
{
	struct location *at = arena_alloc(&report->arena, sizeof *at);

	at->number = (unsigned)report->location_count;
	at->frames = arena_alloc(&report->arena, sizeof *at->frames);
	at->frames->function = intern_text(&report->strings, name);
	at->frame_count = 1;
	GROW(report->locations, report->location_room, report->location_count + 1);
	report->locations[report->location_count++] = at;
	return at;
}

/* Adds a stack: xmalloc, CALLER, main. */
static void add_stack(struct report *report, const struct location *xmalloc_at, const char *caller,
                      const struct location *main_at)
{
	struct stack *stack =
	        arena_alloc(&report->arena, sizeof *stack + DEPTH * sizeof *stack->at);

	stack->depth = DEPTH;
	stack->number = (unsigned)report->stack_count;
	stack->at[0] = xmalloc_at;
	stack->at[1] = add_location(report, caller);
	stack->at[2] = main_at;
	GROW(report->stacks, report->stack_room, report->stack_count + 1);
	report->stacks[report->stack_count++] = stack;
}

int main(void)
{
	struct report report;
	const struct skips skips = {.none = false};

	report_start(&report);
	const struct location *xmalloc_at = add_location(&report, "xmalloc");
	const struct location *main_at = add_location(&report, "main");
	for (unsigned i = 0; i < FUNCTIONS; i++)
		add_stack(&report, xmalloc_at, arena_format(&report.arena, "caller_%u", i),
		          main_at);
	const struct arena before = report.arena;
	for (unsigned i = 0; i < CALLS; i++)
		find_askers(&report, &skips);
	CHECK(report.arena.chunk == before.chunk && report.arena.used == before.used);
	for (size_t i = 0; i < report.stack_count; i++)
		CHECK(report.stacks[i]->asked == 1);
	report_free(&report);
	return 0;
}
