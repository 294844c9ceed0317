/* render_html.c - one page that needs no network: tools/render/page.html with the report's data put
 * in.
 *
 * The data is compact.  Each function and each stack is written once.  A stack is a list of numbers
 * of functions; with it come the number of the frame that asked for the memory (askers.h), and how
 * many frames lead to main.  A call site of a dump is [stack, bytes, blocks, kind of its stack,
 * processes, numbers by kind].  The last are the bytes and then the blocks by enum reach.  What is
 * not known is missing.  The page's script adds up, sorts and draws.
 */
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/model/merge.h"
#include "tools/model/totals.h"
#include "tools/render/render.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char page_bytes[] = {
#include "page.h"
        0};

/* The kind of a stack that the option depth= has cut, beside enum stack_kind. */
#define STACK_CUT (STACK_GUESSED + 1)

/* The place of the data in the page. */
static const char mark[] = "@DATA@";

/* Writes TEXT as a JSON string, or null.  The string may stand in a script element: < is escaped.
 * Characters that are no text would be invisible, or turn the page round: the page shows their
 * numbers. */
static void put_string(FILE *stream, const char *text)
{
	if (!text) {
		fputs("null", stream);
		return;
	}
	putc('"', stream);
	while (*text) {
		struct character c = character_at(text);
		if (!c.is_text)
			fprintf(stream, c.length > 1 ? "\\\\u%04x" : "\\\\x%02x", c.code);
		else if (c.code == '<' || c.code == '"' || c.code == '\\')
			fprintf(stream, "\\u%04x", c.code);
		else
			fwrite(text, 1, c.length, stream);
		text += c.length;
	}
	putc('"', stream);
}

/* The page's numbers.  Only what the answer uses gets one: a report may have many programs. */
struct numbers {
	bool *is_used;         /* by the number of a location */
	unsigned *first_frame; /* by the number of a location: of its first frame */
	unsigned *stack;       /* by the number of a stack: 1 + its number in the page, or 0 */
	const struct stack **stacks;
	size_t stack_count;
};

static void use_locations(struct numbers *numbers, const struct stack *stack)
{
	for (unsigned i = 0; i < stack->depth; i++)
		numbers->is_used[stack->at[i]->number] = true;
}

static void use_stack(struct numbers *numbers, const struct stack *stack)
{
	if (numbers->stack[stack->number])
		return;
	numbers->stacks[numbers->stack_count++] = stack;
	numbers->stack[stack->number] = (unsigned)numbers->stack_count;
	use_locations(numbers, stack);
}

static void use_dump(struct numbers *numbers, const struct dump *dump)
{
	for (size_t i = 0; i < dump->site_count; i++)
		use_stack(numbers, dump->sites[i].stack);
	if (dump->crash)
		use_locations(numbers, dump->crash->stack);
}

/* Gives numbers to the stacks of ANSWER. */
static struct numbers number_all(const struct answer *answer)
{
	const struct report *report = answer->report;
	struct numbers numbers = {
	        .is_used = xzalloc(report->location_count + 1),
	        .first_frame = xzalloc((report->location_count + 1) * sizeof(unsigned)),
	        .stack = xzalloc((report->stack_count + 1) * sizeof(unsigned)),
	        .stacks = xmalloc((report->stack_count + 1) * sizeof(struct stack *)),
	};

	for (size_t i = 0; answer->dumps && i < answer->dumps->count; i++)
		use_dump(&numbers, answer->dumps->all[i]);
	if (answer->merged)
		use_dump(&numbers, answer->merged);
	for (size_t i = 0; answer->growths && i < answer->growths->count; i++)
		use_stack(&numbers, answer->growths->all[i].stack);
	if (answer->changes) {
		use_dump(&numbers, answer->changes->old);
		use_dump(&numbers, answer->changes->new);
	}
	return numbers;
}

static void free_numbers(struct numbers *numbers)
{
	free(numbers->is_used);
	free(numbers->first_frame);
	free(numbers->stack);
	free(numbers->stacks);
}

static unsigned stack_number(const struct numbers *numbers, const struct stack *stack)
{
	return numbers->stack[stack->number] - 1;
}

/* Writes the numbers of STACK's frames, see put_frames. */
static void put_stack(FILE *stream, const struct stack *stack, const unsigned *first_frame)
{
	bool first = true;
	putc('[', stream);
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		for (unsigned j = 0; j < at->frame_count; j++, first = false)
			fprintf(stream, first ? "%u" : ",%u", first_frame[at->number] + j);
	}
	putc(']', stream);
}

/* Writes an entry [name, place, module, inlined] for each frame of each location that is used, and
 * then the stacks.  Fills the first frames of NUMBERS. */
static void put_frames(FILE *stream, const struct report *report, struct numbers *numbers)
{
	struct arena scratch = {0};
	unsigned count = 0;

	fputs("\"frames\":[", stream);
	for (size_t i = 0; i < report->location_count; i++) {
		const struct location *at = report->locations[i];
		numbers->first_frame[i] = count;
		for (unsigned j = 0; numbers->is_used[i] && j < at->frame_count; j++) {
			fputs(count++ ? ",\n[" : "\n[", stream);
			put_string(stream, frame_name(&scratch, at, &at->frames[j]));
			putc(',', stream);
			put_string(stream, frame_place(&scratch, at, &at->frames[j]));
			putc(',', stream);
			put_string(stream, at->module ? at->module->name : NULL);
			fprintf(stream, ",%d]", at->frames[j].inlined);
		}
		arena_reset(&scratch);
	}
	arena_free(&scratch);
	fputs("],\n\"stacks\":[", stream);
	for (size_t i = 0; i < numbers->stack_count; i++) {
		fputs(i ? ",\n" : "\n", stream);
		put_stack(stream, numbers->stacks[i], numbers->first_frame);
	}
	fputs("],\n\"asked\":[", stream);
	for (size_t i = 0; i < numbers->stack_count; i++)
		fprintf(stream, i ? ",%u" : "%u", numbers->stacks[i]->asked);
	fputs("],\n\"to_main\":[", stream);
	for (size_t i = 0; i < numbers->stack_count; i++)
		fprintf(stream, i ? ",%u" : "%u", frames_to_main(numbers->stacks[i]));
	fputs("],\n", stream);
}

static void put_crash(FILE *stream, const struct crash *crash, const unsigned *first_frame)
{
	const struct fault *fault = &crash->fault;
	struct arena scratch = {0};

	fputs(",\"crash\":{\"cause\":", stream);
	put_string(stream, fault_text(&scratch, fault));
	fputs(",\"frames\":", stream);
	put_stack(stream, crash->stack, first_frame);
	fputs(",\"registers\":[", stream);
	for (size_t i = 0; i < fault->register_count; i++)
		fprintf(stream, "%s[\"%s\",\"0x%" PRIx64 "\"]", i ? "," : "",
		        fault->registers[i].name, fault->registers[i].value);
	fputs("]}", stream);
	arena_free(&scratch);
}

/* Writes the bytes and then the blocks of the first COUNT kinds of REACH, or null. */
static void put_reach(FILE *stream, const struct reach_sums *reach, unsigned count)
{
	if (!reach->is_known) {
		fputs("null", stream);
		return;
	}
	for (unsigned i = 0; i < 2 * count; i++)
		fprintf(stream, "%c%" PRIu64, i ? ',' : '[',
		        i < count ? reach->bytes[i] : reach->blocks[i - count]);
	putc(']', stream);
}

static void put_dump(FILE *stream, const struct dump *dump, const struct numbers *numbers)
{
	if (dump->merged)
		fprintf(stream,
		        "\n{\"merged\":%zu,\"programs\":%zu,\"with_kinds\":%zu,\"process\":-1,"
		        "\"reason\":",
		        dump->merged->dumps, dump->merged->programs, dump->merged->with_kinds);
	else
		fprintf(stream,
		        "\n{\"pid\":%lu,\"sequence\":%lu,\"process\":%u,\"reason\":", dump->pid,
		        dump->sequence, dump->process);
	put_string(stream, dump->reason);
	fputs(",\"program\":", stream);
	put_string(stream, dump->program);
	fputs(",\"command\":[", stream);
	for (size_t i = 0; i < dump->command_count; i++) {
		fputs(i ? "," : "", stream);
		put_string(stream, dump->command[i]);
	}
	fputs("],\"time\":", stream);
	put_string(stream, dump->time);
	fprintf(stream, ",\"seconds\":%" PRId64 ",\"bytes\":%" PRIu64 ",\"blocks\":%" PRIu64,
	        dump->seconds, unsuppressed_bytes(dump), unsuppressed_blocks(dump));
	fputs(",\"damage\":", stream);
	put_string(stream, dump->damage);
	if (dump->totals.complete_percent >= 0)
		fprintf(stream, ",\"complete\":%g", dump->totals.complete_percent);
	if (dump->totals.sample_interval > 0)
		fprintf(stream, ",\"sampled\":[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
		        dump->totals.sample_interval, dump->totals.estimate.sampled_blocks,
		        dump->totals.estimate.live_bytes_error);
	if (dump->crash)
		put_crash(stream, dump->crash, numbers->first_frame);
	fputs(",\"kinds\":", stream);
	put_reach(stream, &dump->totals.reach, REACHES);
	if (dump->kinds)
		fprintf(stream, ",\"chosen\":%u", dump->kinds);
	fprintf(stream, ",\"hidden\":[%" PRId64 ",%" PRId64 "],\"sites\":[", hidden_bytes(dump),
	        hidden_blocks(dump));
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		fprintf(stream, "%s[%u,%" PRIu64 ",%" PRIu64 ",%d", i ? "," : "",
		        stack_number(numbers, site->stack), site->bytes, site->blocks,
		        site->is_cut ? STACK_CUT : (int)site->kind);
		if (dump->merged || site->reach.is_known)
			fprintf(stream, ",%u", site->processes);
		if (site->reach.is_known) {
			putc(',', stream);
			put_reach(stream, &site->reach, REACH_NUMBERS);
		}
		putc(']', stream);
	}
	fputs("]}", stream);
}

void render_page_data(FILE *stream, const struct answer *answer)
{
	struct numbers numbers = number_all(answer);

	fprintf(stream, "{\"mode\":\"%s\",\n", answer->changes ? "diff" : "report");
	if (answer->live_seconds)
		fprintf(stream, "\"live\":%u,\n", answer->live_seconds);
	put_frames(stream, answer->report, &numbers);
	if (answer->changes) {
		/* Two builds have different stacks: the page cannot match those of the two
		 * dumps. */
		fputs("\"changes\":[", stream);
		for (size_t i = 0; i < answer->changes->count; i++) {
			const struct change *c = &answer->changes->all[i];
			fprintf(stream, "%s[%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
			        i ? "," : "", stack_number(&numbers, c->stack), c->old_bytes,
			        c->new_bytes, c->old_blocks, c->new_blocks);
			put_reach(stream, &c->old_reach, REACH_NUMBERS);
			putc(',', stream);
			put_reach(stream, &c->new_reach, REACH_NUMBERS);
			putc(']', stream);
		}
		fputs("],\n", stream);
	}
	if (answer->growths) {
		fputs("\"growth\":[", stream);
		for (size_t i = 0; i < answer->growths->count; i++) {
			const struct growth *g = &answer->growths->all[i];
			fprintf(stream, "%s[%u,%u,%" PRId64, i ? "," : "", g->last_dump->process,
			        stack_number(&numbers, g->stack), g->live.steady);
			fprintf(stream, g->has_kinds ? ",%" PRId64 "]" : "]", g->lost.steady);
		}
		fputs("],\n", stream);
	}
	fputs("\"dumps\":[", stream);
	if (answer->changes) {
		put_dump(stream, answer->changes->old, &numbers);
		putc(',', stream);
		put_dump(stream, answer->changes->new, &numbers);
	}
	for (size_t i = 0; answer->dumps && i < answer->dumps->count; i++) {
		if (i)
			putc(',', stream);
		put_dump(stream, answer->dumps->all[i], &numbers);
	}
	if (answer->merged) {
		if (answer->dumps && answer->dumps->count)
			putc(',', stream);
		put_dump(stream, answer->merged, &numbers);
	}
	fprintf(stream, "]%s}", answer->merged_first ? ",\"first_merged\":true" : "");
	free_numbers(&numbers);
}

void render_html(FILE *stream, const struct answer *answer)
{
	const char *page = (const char *)page_bytes, *at = strstr(page, mark);

	fwrite(page, 1, (size_t)(at - page), stream);
	render_page_data(stream, answer);
	fputs(at + sizeof mark - 1, stream);
}
