/* render_text.c - the report for people.
 *
 * Colour marks, it never says anything that the words do not.  On a terminal long places are shortened
 * on the left, where the folders are; anywhere else every line is written in full.
 */
#include "tools/model/merge.h"
#include "tools/model/totals.h"
#include "tools/render/render.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct page {
	FILE *stream;
	const struct style *style;
	bool all_frames;
	struct arena scratch;
	/* What was not shown: */
	size_t left_out;       /* call sites, or rows */
	const char *left_what; /* singular */
	bool cut_stacks;       /* frames beyond main */
};

enum tone {
	TONE_PLAIN,
	TONE_STRONG,
	TONE_NAME,
	TONE_FAINT,
	TONE_ALERT,
};

static void tone(const struct page *page, enum tone which)
{
	static const char *const codes[] = {"\033[0m", "\033[1m", "\033[36m", "\033[2m", "\033[31m"};
	if (page->style->color)
		fputs(codes[which], page->stream);
}

/* "1 block", "2 blocks". */
static const char *counted(struct page *page, uint64_t number, const char *noun)
{
	bool hisses = noun[strlen(noun) - 1] == 's';
	return arena_format(&page->scratch, "%s %s%s", with_commas(number), noun,
	                    number == 1 ? ""
	                    : hisses    ? "es"
	                                : "s");
}

/* -- stacks -------------------------------------------------------------------------------------- */

enum { INDENT = 6, NAME_MAX_WIDTH = 44, NAME_MIN_WIDTH = 20 };

static const char inlined_mark[] = " (inlined)";

/* The length of a piece of a C++ name at TEXT whose brackets hold no list, or 0. */
static size_t plain_piece(const char *text)
{
	static const char anonymous[] = "(anonymous namespace)";
	if (strncmp(text, anonymous, sizeof anonymous - 1) == 0)
		return sizeof anonymous - 1;
	if (strncmp(text, "operator()", 10) == 0)
		return 10;
	return strncmp(text, "operator", 8) == 0 ? 8 + strspn(text + 8, "<>-=!+*/%^&|~,[]") : 0;
}

/* C++ names can fill a page: beyond a column's width, what stands in <> and () is left out. */
static const char *short_name(struct page *page, const char *name)
{
	size_t length = strlen(name), piece;
	if (length <= NAME_MAX_WIDTH)
		return name;
	char *out = arena_alloc(&page->scratch, 4 * length + 1), *p = out;
	unsigned depth = 0;
	for (const char *s = name; *s; s += piece) {
		piece = plain_piece(s);
		if (piece) {
			if (depth == 0)
				p = mempcpy(p, s, piece);
			continue;
		}
		piece = 1;
		if (*s == '<' || *s == '(') {
			if (depth++ == 0) {
				*p++ = *s;
				p = stpcpy(p, s[1] == ')' ? "" : "...");
			}
		} else if (*s == '>' || *s == ')') {
			if (depth && --depth == 0)
				*p++ = *s;
		} else if (depth == 0) {
			*p++ = *s;
		}
	}
	*p = '\0';
	return out;
}

/* NAME, cut on a terminal to ROOM columns: in C++ the end of a name says most, elsewhere its beginning. */
static const char *fitting(struct page *page, const char *name, size_t room)
{
	static const char mark[] = "...";
	size_t length = strlen(name);
	if (page->style->width == 0 || length <= room || room <= sizeof mark)
		return name;
	size_t kept = room - (sizeof mark - 1);
	if (strstr(name, "::"))
		return arena_format(&page->scratch, "%s%s", mark, name + length - kept);
	return arena_format(&page->scratch, "%.*s%s", (int)kept, name, mark);
}

/* Frames of a stack from FIRST up to LAST, which is not among them; inlined frames count. */
struct range {
	unsigned first, last;
};

/* The longest name in RANGE of STACK that still fits into a column. */
static unsigned name_width(struct page *page, const struct stack *stack, struct range range)
{
	size_t widest = NAME_MIN_WIDTH;
	unsigned number = 0;
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		for (unsigned j = 0; j < at->frame_count; j++, number++) {
			if (number < range.first || number >= range.last)
				continue;
			const char *name = at->frames[j].function;
			size_t width = name ? strlen(short_name(page, name)) : 1;
			if (width > widest && width <= NAME_MAX_WIDTH)
				widest = width;
		}
	}
	return (unsigned)widest;
}

static void put_frame(struct page *page, const struct location *at, const struct frame *frame,
                      unsigned width)
{
	const char *place = frame_place(&page->scratch, at, frame);
	const char *name = frame->function ? short_name(page, frame->function) : "?";
	size_t inlined = frame->inlined ? strlen(inlined_mark) : 0, all = INDENT + 2 + inlined;
	/* A terminal's line holds both: the name may take what the place leaves, but half at least. */
	size_t free = page->style->width > all ? page->style->width - all : 0;
	size_t most = strlen(place) < free / 2 ? free - strlen(place) : free / 2;
	name = fitting(page, name, most);
	if (free && width > most)
		width = (unsigned)most;
	size_t length = strlen(name), used = length > width ? length : width;

	fprintf(page->stream, "%*s", INDENT, "");
	tone(page, TONE_NAME);
	put_text(page->stream, name);
	tone(page, TONE_PLAIN);
	fprintf(page->stream, "%*s  ", length < width ? (int)(width - length) : 0, "");
	tone(page, TONE_FAINT);
	size_t room = free > used ? free - used : 0;
	if (room > 3 && strlen(place) > room) {
		fputs("...", page->stream);
		place += strlen(place) - (room - 3);
	}
	put_text(page->stream, place);
	if (frame->inlined)
		fputs(inlined_mark, page->stream);
	tone(page, TONE_PLAIN);
	putc('\n', page->stream);
}

static const char *wrapper_name(struct page *page, const struct location *at, const struct frame *frame)
{
	return frame->function ? plain_name(&page->scratch, frame->function)
	                       : frame_name(&page->scratch, at, frame);
}

/* The wrappers that the first COUNT frames of STACK are, on one line.  A single one has its place there: it
 * may be no wrapper, but be called like one. */
static void put_wrappers(struct page *page, const struct stack *stack, unsigned count)
{
	static const char mark[] = "through ";
	const char *names = "";
	unsigned number = 0;
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		for (unsigned j = 0; j < at->frame_count && number < count; j++, number++)
			names = arena_format(
			        &page->scratch, "%s%s%s%s%s", names, number ? ", " : "",
			        wrapper_name(page, at, &at->frames[j]), count == 1 ? "  " : "",
			        count == 1 ? frame_place(&page->scratch, at, &at->frames[j]) : "");
	}
	size_t used = INDENT + sizeof mark - 1;
	size_t room = page->style->width > used ? page->style->width - used : 0;
	if (room > 3 && strlen(names) > room)
		names = arena_format(&page->scratch, "%.*s...", (int)room - 3, names);
	fprintf(page->stream, "%*s", INDENT, "");
	tone(page, TONE_FAINT);
	fputs(mark, page->stream);
	put_text(page->stream, names);
	tone(page, TONE_PLAIN);
	putc('\n', page->stream);
}

/* Frames of STACK from FIRST on, down to main. */
static void put_frames(struct page *page, const struct stack *stack, unsigned first)
{
	struct range range = {first, UINT_MAX};
	unsigned number = 0;

	if (!page->all_frames)
		range.last = frames_to_main(stack);
	unsigned width = name_width(page, stack, range);
	if (stack->depth == 0)
		fprintf(page->stream, "%*s(no stack)\n", INDENT, "");
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		for (unsigned j = 0; j < at->frame_count; j++, number++) {
			if (number >= range.first && number < range.last)
				put_frame(page, at, &at->frames[j], width);
		}
	}
	if (number > range.last)
		page->cut_stacks = true;
}

/* The stack of a call site, from the function that asked on. */
static void put_stack(struct page *page, const struct stack *stack)
{
	unsigned first = page->all_frames ? 0 : stack->asked;
	if (first)
		put_wrappers(page, stack, first);
	put_frames(page, stack, first);
	arena_reset(&page->scratch);
}

/* -- one dump ------------------------------------------------------------------------------------ */

static const char *when(struct page *page, const struct dump *dump)
{
	if (!dump->time)
		return "at an unknown time";
	return arena_format(&page->scratch, "%.10s %.8s UTC", dump->time, dump->time + 11);
}

/* As a shell would take it. */
static void put_command(struct page *page, const struct dump *dump)
{
	static const char plain[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
	for (size_t i = 0; i < dump->command_count; i++) {
		const char *word = dump->command[i];
		bool quoted = !*word || word[strspn(word, plain)];
		fputs(i ? " " : "  command: ", page->stream);
		if (quoted)
			putc('\'', page->stream);
		for (const char *rest; (rest = strchr(word, '\'')) != NULL; word = rest + 1) {
			put_text(page->stream, arena_copy(&page->scratch, word, (size_t)(rest - word)));
			fputs("'\\''", page->stream);
		}
		put_text(page->stream, word);
		if (quoted)
			putc('\'', page->stream);
	}
	if (dump->command_count)
		putc('\n', page->stream);
}

/* Notes that COUNT call sites, or whatever WHAT is, are not shown. */
static void leave_out(struct page *page, size_t count, const char *what)
{
	page->left_out += count;
	page->left_what = what;
}

static void put_merged_title(struct page *page, const struct dump *dump)
{
	const struct merged *merged = dump->merged;
	const char *first = merged->first_time, *last = merged->last_time;

	tone(page, TONE_STRONG);
	if (merged->programs > 1)
		fputs(counted(page, merged->programs, "program"), page->stream);
	else
		put_text(page->stream, dump->program ? dump->program : "(unknown program)");
	tone(page, TONE_PLAIN);
	fprintf(page->stream, ", the last dumps of %s", counted(page, merged->dumps, "process"));
	if (first)
		fprintf(page->stream, ", %.10s %.8s to ", first, first + 11);
	if (first && strncmp(first, last, 10) != 0)
		fprintf(page->stream, "%.10s ", last);
	if (first)
		fprintf(page->stream, "%.8s UTC", last + 11);
	putc('\n', page->stream);
	tone(page, TONE_ALERT);
	if (merged->crashed)
		fprintf(page->stream, "  %s crashed\n", counted(page, merged->crashed, "process"));
	if (merged->damaged)
		fprintf(page->stream, "  %s damaged\n",
		        merged->damaged == 1 ? "1 dump is"
		                             : arena_format(&page->scratch, "%s dumps are",
		                                            with_commas(merged->damaged)));
	tone(page, TONE_PLAIN);
}

static void put_title(struct page *page, const struct dump *dump)
{
	if (dump->merged) {
		put_merged_title(page, dump);
		return;
	}
	static const char *const reasons[][2] = {{"exit", "at exit"},
	                                         {"signal", "on signal"},
	                                         {"api", "on request"},
	                                         {"crash", "at a crash"},
	                                         {"misuse", "of misuse"}};
	const char *reason = "for an unknown reason";
	for (size_t i = 0; dump->reason && i < sizeof reasons / sizeof *reasons; i++)
		if (strcmp(dump->reason, reasons[i][0]) == 0)
			reason = reasons[i][1];
	tone(page, TONE_STRONG);
	put_text(page->stream, dump->program ? dump->program : "(unknown program)");
	tone(page, TONE_PLAIN);
	fprintf(page->stream, ", process %lu, dump %lu %s, %s\n", dump->pid, dump->sequence, reason,
	        when(page, dump));
	put_command(page, dump);
	if (dump->damage) {
		tone(page, TONE_ALERT);
		fprintf(page->stream, "  damaged: line %lu: %s\n", dump->damage_line, dump->damage);
		tone(page, TONE_PLAIN);
	}
}

enum { REGISTERS_PER_LINE = 4 };

/* What it died of, where, and the registers. */
static void put_crash(struct page *page, const struct dump *dump)
{
	const struct crash *crash = dump->crash;
	const struct fault *fault = &crash->fault;
	size_t widest = 0;

	tone(page, TONE_ALERT);
	fprintf(page->stream, "  died of %s\n", fault_text(&page->scratch, fault));
	tone(page, TONE_PLAIN);
	put_frames(page, crash->stack, 0);
	arena_reset(&page->scratch);
	for (size_t i = 0; i < fault->register_count; i++)
		if (strlen(fault->registers[i].name) > widest)
			widest = strlen(fault->registers[i].name);
	/* "name 0x0123456789abcdef  " */
	size_t per_line = REGISTERS_PER_LINE, column = widest + 1 + 18 + 2;
	while (page->style->width && per_line > 1 &&
	       INDENT - 2 + per_line * column > page->style->width)
		per_line--;
	for (size_t i = 0; i < fault->register_count; i++) {
		const struct machine_register *one = &fault->registers[i];
		bool last = i % per_line == per_line - 1 || i == fault->register_count - 1;
		fprintf(page->stream, "%*s", i % per_line ? 2 : INDENT, "");
		fprintf(page->stream, "%*s", (int)(widest - strlen(one->name)), "");
		fputs(one->name, page->stream);
		fprintf(page->stream, last ? " 0x%" PRIx64 "\n" : " 0x%-16" PRIx64, one->value);
	}
	putc('\n', page->stream);
}

static void put_modules(struct page *page, const struct dump *dump)
{
	static const char *const states[] = {
	        [MODULE_UNREAD] = NULL,
	        [MODULE_VERIFIED] = NULL,
	        [MODULE_UNVERIFIED] = "not verified, the dump has no build-id",
	        [MODULE_MISMATCH] = "left raw, another build was found",
	        [MODULE_MISSING] = "left raw, no file was found",
	};
	for (size_t i = 0; i < dump->mapping_count; i++) {
		const struct module *module = dump->mappings[i].module;
		if (!states[module->state])
			continue;
		fputs("  module ", page->stream);
		put_text(page->stream, module->path);
		fprintf(page->stream, ": %s\n", states[module->state]);
	}
}

static void put_misuse(struct page *page, const struct dump *dump)
{
	const struct misused *misused = dump->misuse;
	const char *heads[MISUSE_STACKS] = {
	        [MISUSE_OFFENDER] = misuse_text(&page->scratch, &misused->misuse),
	        [MISUSE_RELEASE] = "released before",
	        [MISUSE_BLOCK] = misuse_block_text(&page->scratch, &misused->misuse),
	};

	for (unsigned i = 0; i < MISUSE_STACKS; i++) {
		if (!misused->stacks[i] && i != MISUSE_OFFENDER)
			continue;
		tone(page, i == MISUSE_OFFENDER ? TONE_ALERT : TONE_STRONG);
		fputs("  ", page->stream);
		put_text(page->stream, heads[i]);
		putc('\n', page->stream);
		tone(page, TONE_PLAIN);
		if (misused->stacks[i])
			put_frames(page, misused->stacks[i], 0);
	}
	put_modules(page, dump);
}

static void put_totals(struct page *page, const struct dump *dump)
{
	const struct totals *totals = &dump->totals;
	if (totals->live_bytes < 0 || totals->live_blocks < 0) {
		fputs("  its totals are missing\n", page->stream);
		return;
	}
	tone(page, TONE_STRONG);
	fprintf(page->stream, "  %s", counted(page, (uint64_t)totals->live_bytes, "byte"));
	tone(page, TONE_PLAIN);
	if (totals->live_bytes >= 1024)
		fprintf(page->stream, " (%s)", with_unit((uint64_t)totals->live_bytes));
	fprintf(page->stream, " live in %s", counted(page, (uint64_t)totals->live_blocks, "block"));
	if (totals->call_sites >= 0)
		fprintf(page->stream, " at %s",
		        counted(page, (uint64_t)totals->call_sites, "call site"));
	putc('\n', page->stream);
	if (totals->inherited && totals->inherited_bytes >= 0 && totals->inherited_blocks > 0)
		fprintf(page->stream, "  %s from before the fork: %s in %s\n",
		        strcmp(totals->inherited, "included") == 0 ? "of these" : "left out",
		        counted(page, (uint64_t)totals->inherited_bytes, "byte"),
		        counted(page, (uint64_t)totals->inherited_blocks, "block"));
	if (dump->suppressed_sites)
		fprintf(page->stream, "  of these suppressed: %s in %s%s%s\n",
		        counted(page, dump->suppressed_bytes, "byte"),
		        counted(page, dump->suppressed_blocks, "block"), dump->merged ? "" : " at ",
		        dump->merged ? "" : counted(page, dump->suppressed_sites, "call site"));
}

static void put_sites(struct page *page, const struct dump *dump, unsigned top)
{
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		if (top && i == top) {
			leave_out(page, dump->site_count - i, "call site");
			break;
		}
		fprintf(page->stream, "\n  #%" PRIu64 " ", site->rank);
		tone(page, TONE_STRONG);
		fputs(counted(page, site->bytes, "byte"), page->stream);
		tone(page, TONE_PLAIN);
		fprintf(page->stream, " in %s", counted(page, site->blocks, "block"));
		if (dump->totals.live_bytes > 0)
			fprintf(page->stream, ", %.1f %%",
			        100.0 * (double)site->bytes / (double)dump->totals.live_bytes);
		if (dump->merged)
			fprintf(page->stream, ", in %s of %s", with_commas(site->processes),
			        counted(page, dump->merged->dumps, "process"));
		if (site->kind != STACK_COMPLETE)
			fprintf(page->stream, ", stack %s", stack_kind_names[site->kind]);
		if (site->task) {
			fputs(", task ", page->stream);
			put_text(page->stream, site->task);
		}
		if (site->of_system)
			fputs(", by a system library", page->stream);
		putc('\n', page->stream);
		put_stack(page, site->stack);
	}
	int64_t bytes = hidden_bytes(dump), blocks = hidden_blocks(dump);
	if (bytes || blocks)
		fprintf(page->stream, "\n  %s in %s at call sites that the dump does not show\n",
		        counted(page, (uint64_t)bytes, "byte"),
		        counted(page, (uint64_t)blocks, "block"));
}

static void put_groups(struct page *page, const struct dump *dump, enum group_kind by, unsigned top)
{
	struct arena arena = {0};
	struct groups groups = group_dump(&arena, dump, by);
	size_t numbers = 57, room = page->style->width > numbers + NAME_MIN_WIDTH
	                                    ? page->style->width - numbers
	                                    : NAME_MIN_WIDTH;

	tone(page, TONE_FAINT);
	fprintf(page->stream, "\n  %15s %12s %8s %15s  %s\n", "bytes here", "blocks", "sites",
	        "bytes through", group_kind_names[by]);
	tone(page, TONE_PLAIN);
	for (size_t i = 0; i < groups.count; i++) {
		const struct group *group = groups.all[i];
		if (top && i == top) {
			leave_out(page, groups.count - i, group_kind_names[by]);
			break;
		}
		fprintf(page->stream, "  %15s %12s %8s %15s  ", with_commas(group->bytes),
		        with_commas(group->blocks), with_commas(group->sites),
		        with_commas(group->through_bytes));
		tone(page, TONE_NAME);
		put_text(page->stream, page->style->width ? fitting(page, short_name(page, group->name), room)
		                                   : group->name);
		tone(page, TONE_PLAIN);
		putc('\n', page->stream);
	}
	free(groups.all);
	arena_free(&arena);
}

/* A line about what the numbers miss, when they miss it. */
static void put_loss(struct page *page, int64_t number, const char *noun, const char *what)
{
	if (number > 0)
		fprintf(page->stream, "  %s %s\n", counted(page, (uint64_t)number, noun), what);
}

static void put_footer(struct page *page, const struct dump *dump)
{
	const struct totals *totals = &dump->totals;

	putc('\n', page->stream);
	if (totals->complete_percent >= 0)
		fprintf(page->stream, "  stacks: %.4g %% of the live bytes have complete ones\n",
		        totals->complete_percent);
	put_loss(page, totals->untracked_blocks, "block", "could not be recorded for want of memory");
	put_loss(page, totals->lost_call_sites, "call site",
	         "could not be recorded for want of memory");
	put_loss(page, totals->freed_elsewhere_blocks, "block", "freed by code that is not traced");
	put_loss(page, totals->foreign_frees, "free", "of blocks that were never recorded");
	if (totals->left_out_blocks > 0 && totals->left_out_bytes >= 0)
		fprintf(page->stream, "  %s in %s of the system's libraries left out\n",
		        counted(page, (uint64_t)totals->left_out_bytes, "byte"),
		        counted(page, (uint64_t)totals->left_out_blocks, "block"));
	for (size_t i = 0; i < dump->note_count; i++) {
		char *rest;
		bool counts = dump->notes[i][0] >= '0' && dump->notes[i][0] <= '9';
		uint64_t number = counts ? strtoull(dump->notes[i], &rest, 10) : 0;
		fputs("  note: ", page->stream);
		if (counts) /* "2936 forked children" */
			fputs(with_commas(number), page->stream);
		put_text(page->stream, counts ? rest : dump->notes[i]);
		putc('\n', page->stream);
	}
	put_modules(page, dump);
	if (totals->tracer_bytes >= 0)
		fprintf(page->stream, "  tracer: %s of its own",
		        with_unit((uint64_t)totals->tracer_bytes));
	if (totals->tracer_bytes >= 0 && totals->dump_ns >= 0)
		fprintf(page->stream, ", this dump took %.3g ms", (double)totals->dump_ns / 1e6);
	if (totals->tracer_bytes >= 0)
		putc('\n', page->stream);
}

/* -- changes and growth -------------------------------------------------------------------------- */

/* "+1,024" or "-1,024". */
static const char *with_sign(struct page *page, uint64_t old, uint64_t new)
{
	return arena_format(&page->scratch, "%c%s", new >= old ? '+' : '-',
	                    with_commas(new >= old ? new - old : old - new));
}

/* Is NUMBER, from with_sign, one in either direction? */
static bool is_one(const char *number)
{
	return strcmp(number + 1, "1") == 0;
}

static void put_changes(struct page *page, const struct changes *changes, unsigned top)
{
	const struct dump *old = changes->old, *new = changes->new;
	put_title(page, old);
	put_title(page, new);
	if (old->totals.live_bytes >= 0 && new->totals.live_bytes >= 0) {
		uint64_t before = (uint64_t)old->totals.live_bytes,
		         after = (uint64_t) new->totals.live_bytes;
		tone(page, TONE_STRONG);
		const char *bytes = with_sign(page, before, after);
		fprintf(page->stream, "  %s byte%s", bytes, is_one(bytes) ? "" : "s");
		tone(page, TONE_PLAIN);
		fprintf(page->stream, ": %s before, %s after\n", with_commas(before),
		        with_commas(after));
	}
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *c = &changes->all[i];
		if (top && i == top) {
			leave_out(page, changes->count - i, "changed call site");
			break;
		}
		fprintf(page->stream, "\n  %s ", change_name(c));
		tone(page, c->new_bytes > c->old_bytes ? TONE_ALERT : TONE_STRONG);
		const char *bytes = with_sign(page, c->old_bytes, c->new_bytes);
		fprintf(page->stream, "%s byte%s", bytes, is_one(bytes) ? "" : "s");
		tone(page, TONE_PLAIN);
		const char *blocks = with_sign(page, c->old_blocks, c->new_blocks);
		fprintf(page->stream, " in %s block%s, now %s in %s\n", blocks,
		        is_one(blocks) ? "" : "s", counted(page, c->new_bytes, "byte"),
		        counted(page, c->new_blocks, "block"));
		put_stack(page, c->stack);
	}
	fprintf(page->stream, "\n  %s did not change\n",
	        counted(page, changes->unchanged, "call site"));
}

static void put_group_name(struct page *page, const char *name)
{
	fprintf(page->stream, "%*s", INDENT, "");
	tone(page, TONE_NAME);
	put_text(page->stream, page->style->width > INDENT
	                        ? fitting(page, short_name(page, name), page->style->width - INDENT)
	                        : name);
	tone(page, TONE_PLAIN);
	putc('\n', page->stream);
	arena_reset(&page->scratch);
}

static void put_rate(struct page *page, const struct growth *growth)
{
	int64_t seconds = growth->last_dump->seconds - growth->first_dump->seconds;
	if (growth->first_dump->seconds < 0 || seconds <= 0 || growth->steady_bytes <= 0)
		return;
	double hourly = (double)growth->steady_bytes * 3600 / (double)seconds;
	uint64_t rate = hourly < (double)INT64_MAX ? (uint64_t)hourly : INT64_MAX;
	fprintf(page->stream, ", %s an hour", with_unit(rate));
}

static void put_growths(struct page *page, const struct growths *growths, unsigned top)
{
	const struct dump *titled = NULL;
	for (size_t i = 0; i < growths->count; i++) {
		const struct growth *g = &growths->all[i];
		if (top && i == top) {
			leave_out(page, growths->count - i,
			          g->name ? group_kind_names[growths->by] : "call site");
			break;
		}
		if (!titled || g->last_dump != titled) {
			fputs(titled ? "\n" : "", page->stream);
			put_title(page, g->last_dump);
			fprintf(page->stream, "  compared with dump %lu, %s\n", g->first_dump->sequence,
			        when(page, g->first_dump));
			titled = g->last_dump;
		}
		fputs("\n  ", page->stream);
		tone(page, g->steady_bytes > 0 ? TONE_ALERT : TONE_STRONG);
		fprintf(page->stream, "%s",
		        g->steady_bytes > 0
		                ? arena_format(&page->scratch, "grows steadily by %s",
		                               counted(page, (uint64_t)g->steady_bytes, "byte"))
		                : "grew, not steadily");
		tone(page, TONE_PLAIN);
		put_rate(page, g);
		fprintf(page->stream, ": %s to %s in %s\n", with_commas(g->first_bytes),
		        counted(page, g->last_bytes, "byte"), counted(page, g->last_blocks, "block"));
		if (g->stack)
			put_stack(page, g->stack);
		else
			put_group_name(page, g->name);
	}
	if (growths->count == 0)
		fprintf(page->stream, "no %s grew\n",
		        growths->by == GROUP_NONE ? "call site" : group_kind_names[growths->by]);
}

/* -- all of it ----------------------------------------------------------------------------------- */

/* One line about what was not shown, and how to see it.  DUMPS: of the report, that were not. */
static void put_left_out(struct page *page, const struct answer *answer, size_t dumps)
{
	const char *parts[3];
	size_t count = 0;

	if (dumps)
		parts[count++] = counted(page, dumps, "earlier dump");
	if (page->left_out)
		parts[count++] = counted(page, page->left_out, page->left_what);
	if (page->cut_stacks)
		parts[count++] = "frames beyond main";
	if (count == 0 && !answer->merged)
		return;
	putc('\n', page->stream);
	tone(page, TONE_FAINT);
	for (size_t i = 0; i < count; i++)
		fprintf(page->stream, "%s%s",
		        i == 0          ? "Not shown: "
		        : i + 1 < count ? ", "
		                        : " and ",
		        parts[i]);
	if (count)
		fputs(": --all shows them.", page->stream);
	if (answer->merged)
		fprintf(page->stream, "%s--each reports each process, leakwrap list names their dumps.",
		        count ? "  " : "");
	else if (dumps)
		fputs("  leakwrap list names the dumps.", page->stream);
	putc('\n', page->stream);
	tone(page, TONE_PLAIN);
}

static void put_dump(struct page *page, const struct dump *dump, const struct answer *answer)
{
	put_title(page, dump);
	if (dump->crash)
		put_crash(page, dump);
	put_totals(page, dump);
	if (answer->by == GROUP_NONE)
		put_sites(page, dump, answer->top);
	else
		put_groups(page, dump, answer->by, answer->top);
	put_footer(page, dump);
	arena_reset(&page->scratch);
}

void render_text(FILE *stream, const struct answer *answer, const struct style *style)
{
	struct page page = {.stream = stream, .style = style, .all_frames = answer->all_frames};
	size_t shown = 0;
	const struct report *report = answer->report;

	for (size_t i = 0; answer->dumps && i < report->misuse_count; i++) {
		put_title(&page, report->misuses[i]);
		put_misuse(&page, report->misuses[i]);
		if (i + 1 < report->misuse_count || answer->dumps->count)
			putc('\n', stream);
		arena_reset(&page.scratch);
	}
	if (answer->merged) {
		put_dump(&page, answer->merged, answer);
		shown = answer->merged->merged->dumps;
	}
	for (size_t i = 0; answer->dumps && !answer->merged && i < answer->dumps->count; i++, shown++) {
		if (i)
			putc('\n', stream);
		put_dump(&page, answer->dumps->all[i], answer);
	}
	if (answer->changes)
		put_changes(&page, answer->changes, answer->top);
	if (answer->growths)
		put_growths(&page, answer->growths, answer->top);
	put_left_out(&page, answer, answer->dumps ? report->dump_count - shown : 0);
	arena_free(&page.scratch);
}
