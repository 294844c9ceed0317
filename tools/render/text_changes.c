/* text_changes.c - what changed between dumps, in the report for people, see text_page.h. */
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/model/kinds.h"
#include "tools/render/text_page.h"

#include <string.h>

/* Returns the change from OLD to NEW as "+1,024" or "-1,024". */
static const char *with_sign(struct page *page, uint64_t old, uint64_t new)
{
	return arena_format(&page->scratch, "%c%s", new >= old ? '+' : '-',
	                    with_commas(new >= old ? new - old : old - new));
}

/* Returns true if CHANGE, from with_sign, is "+1" or "-1". */
static bool is_one(const char *change)
{
	return strcmp(change + 1, "1") == 0;
}

/* Writes how the lost memory of both dumps differs, if they tell it. */
static void put_lost_changes(struct page *page, const struct changes *changes)
{
	const struct reach_sums *old = &changes->old->totals.reach,
	                        *new = &changes->new->totals.reach;
	for (unsigned kind = 0; old->is_known && new->is_known &&kind < REACH_REACHABLE; kind++) {
		bool grew = new->bytes[kind] > old->bytes[kind];
		if (new->blocks[kind] == 0 && old->blocks[kind] == 0)
			continue;
		set_tone(page, kind == REACH_DEFINITE && grew ? TONE_ALERT : TONE_PLAIN);
		const char *bytes = with_sign(page, old->bytes[kind], new->bytes[kind]);
		fprintf(page->stream, "  %s: %s byte%s", kind_texts[kind], bytes,
		        is_one(bytes) ? "" : "s");
		set_tone(page, TONE_PLAIN);
		fprintf(page->stream, ": %s before, %s after\n", with_commas(old->bytes[kind]),
		        with_commas(new->bytes[kind]));
	}
}

/* Writes how the lost memory of CHANGE differs, if both dumps tell it. */
static void put_lost_change(struct page *page, const struct change *change)
{
	const struct reach_sums *old = &change->old_reach, *new = &change->new_reach;
	const uint64_t before[] = {lost_bytes(old), old->bytes[REACH_POSSIBLE]},
	               after[] = {lost_bytes(new), new->bytes[REACH_POSSIBLE]};
	static const enum reach kinds[] = {REACH_DEFINITE, REACH_POSSIBLE};
	for (unsigned i = 0; old->is_known && new->is_known &&i < 2; i++) {
		if (before[i] == after[i])
			continue;
		const char *bytes = with_sign(page, before[i], after[i]);
		fprintf(page->stream, "      %s byte%s, now ", bytes, is_one(bytes) ? "" : "s");
		put_kind(page, new, kinds[i]);
		putc('\n', page->stream);
	}
}

/* Writes what "perhaps" means on this page. */
static void put_chance(struct page *page)
{
	set_tone(page, TONE_FAINT);
	fputs("\n  perhaps: a change within twice its standard error shows nothing\n",
	      page->stream);
	set_tone(page, TONE_PLAIN);
}

/* Writes how the live bytes of both dumps differ. */
static void put_totals(struct page *page, const struct changes *changes)
{
	const struct dump *old = changes->old, *new = changes->new;
	if (old->totals.live_bytes >= 0 && new->totals.live_bytes >= 0) {
		uint64_t before = (uint64_t)old->totals.live_bytes,
		         after = (uint64_t) new->totals.live_bytes;
		set_tone(page, TONE_STRONG);
		const char *bytes = with_sign(page, before, after);
		fprintf(page->stream, "  %s byte%s", bytes, is_one(bytes) ? "" : "s");
		set_tone(page, TONE_PLAIN);
		fprintf(page->stream, ": %s before, %s after", with_commas(before),
		        with_commas(after));
		put_error(page, changes->bytes_error);
		putc('\n', page->stream);
	}
}

/* Writes of how many call sites dumps may hide what the comparison would need. */
static void put_uncompared(struct page *page, size_t uncompared)
{
	if (uncompared)
		fprintf(page->stream,
		        "  %s %s not compared: a dump leaves out call sites (top=, min_bytes=), or "
		        "is damaged\n",
		        counted(page, uncompared, "call site"), uncompared == 1 ? "is" : "are");
}

void put_changes(struct page *page, const struct changes *changes, unsigned top)
{
	bool has_chance = false;

	put_title(page, changes->old);
	put_recording(page, &changes->old->totals);
	put_title(page, changes->new);
	put_recording(page, &changes->new->totals);
	put_lost_changes(page, changes);
	put_totals(page, changes);
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *c = &changes->all[i];
		if (top && i == top) {
			leave_out(page, changes->count - i, "changed call site");
			break;
		}
		has_chance |= c->may_be_chance;
		fprintf(page->stream, "\n  %s%s %s", c->may_be_chance ? "perhaps " : "",
		        change_name(c), c->is_least ? "at least " : "");
		set_tone(page, c->may_be_chance              ? TONE_PLAIN
		               : c->new_bytes > c->old_bytes ? TONE_ALERT
		                                             : TONE_STRONG);
		const char *bytes = with_sign(page, c->old_bytes, c->new_bytes);
		fprintf(page->stream, "%s byte%s", bytes, is_one(bytes) ? "" : "s");
		set_tone(page, TONE_PLAIN);
		const char *blocks = with_sign(page, c->old_blocks, c->new_blocks);
		if (!c->is_least)
			fprintf(page->stream, " in %s block%s", blocks, is_one(blocks) ? "" : "s");
		fprintf(page->stream, ", now %s%s in %s",
		        c->is_least && c->new_bytes < c->old_bytes ? "at most " : "",
		        counted(page, c->new_bytes, "byte"), counted(page, c->new_blocks, "block"));
		put_error(page, c->bytes_error);
		putc('\n', page->stream);
		put_lost_change(page, c);
		put_stack(page, c->stack);
	}
	fprintf(page->stream, "\n  %s did not change\n",
	        counted(page, changes->unchanged, "call site"));
	put_uncompared(page, changes->uncompared);
	if (has_chance)
		put_chance(page);
}

static void put_group_name(struct page *page, const char *name)
{
	fprintf(page->stream, "%*s", FRAME_INDENT, "");
	set_tone(page, TONE_NAME);
	size_t width = page->style->width;
	put_text(page->stream,
	         width > FRAME_INDENT ? fitting_name(page, name, width - FRAME_INDENT) : name);
	set_tone(page, TONE_PLAIN);
	putc('\n', page->stream);
	arena_reset(&page->scratch);
}

/* Writes what STEADY bytes over GROWTH are in an hour, if the dumps say when they were made. */
static void put_rate(struct page *page, const struct growth *growth, int64_t steady)
{
	int64_t seconds = seconds_between(growth->first_dump, growth->last_dump);
	if (seconds <= 0 || steady <= 0)
		return;
	double hourly = (double)steady * 3600 / (double)seconds;
	uint64_t rate = hourly < (double)INT64_MAX ? (uint64_t)hourly : INT64_MAX;
	fprintf(page->stream, ", %s an hour", with_unit(rate));
}

/* Writes that GROWTH, which has lost more, loses memory. */
static void put_loss(struct page *page, const struct growth *growth)
{
	const int64_t steady = growth->lost.steady;

	set_tone(page, TONE_ALERT);
	if (steady > 0)
		fprintf(page->stream, "loses %s steadily", counted(page, (uint64_t)steady, "byte"));
	else
		fprintf(page->stream, "has lost %s, not steadily",
		        counted(page, (uint64_t)lost_growth(growth), "byte"));
	set_tone(page, TONE_PLAIN);
	put_rate(page, growth, steady);
	fprintf(page->stream, ": %s to ", with_commas(lost_bytes(&growth->first_reach)));
	put_kind(page, &growth->last_reach, REACH_DEFINITE);
	fprintf(page->stream, "\n%*s", FRAME_INDENT, "");
}

void put_growths(struct page *page, const struct growths *growths, unsigned top)
{
	const struct dump *titled = NULL;
	bool has_chance = false;
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
			put_recording(page, &g->last_dump->totals);
			fprintf(page->stream, "  compared with dump %lu, %s\n",
			        g->process_start->sequence, dump_time(page, g->process_start));
			put_damage(page, g->process_start);
			put_recording(page, &g->process_start->totals);
			titled = g->last_dump;
		}
		has_chance |= g->may_be_chance;
		fputs(g->may_be_chance ? "\n  perhaps " : "\n  ", page->stream);
		if (lost_growth(g) > 0)
			put_loss(page, g);
		set_tone(page, g->may_be_chance     ? TONE_PLAIN
		               : g->live.steady > 0 ? TONE_ALERT
		                                    : TONE_STRONG);
		if (g->live.steady > 0)
			fprintf(page->stream, "grows steadily by %s%s",
			        g->is_least ? "at least " : "",
			        counted(page, (uint64_t)g->live.steady, "byte"));
		else
			fputs(g->last_bytes > g->first_bytes ? "grew, not steadily"
			                                     : "did not grow",
			      page->stream);
		set_tone(page, TONE_PLAIN);
		put_rate(page, g, g->live.steady);
		fprintf(page->stream, ": %s%s to %s in %s", g->is_least ? "at most " : "",
		        with_commas(g->first_bytes), counted(page, g->last_bytes, "byte"),
		        counted(page, g->last_blocks, "block"));
		if (g->first_dump != g->process_start)
			fprintf(page->stream, " since dump %lu", g->first_dump->sequence);
		put_error(page, g->bytes_error);
		putc('\n', page->stream);
		if (g->stack)
			put_stack(page, g->stack);
		else
			put_group_name(page, g->name);
	}
	if (has_chance)
		put_chance(page);
	if (growths->count == 0)
		fprintf(page->stream, "no %s grew\n",
		        growths->by == GROUP_NONE ? "call site" : group_kind_names[growths->by]);
	if (growths->uncompared)
		putc('\n', page->stream);
	put_uncompared(page, growths->uncompared);
}
