/* text_changes.c - what changed between dumps, in the report for people, see text_page.h. */
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

void put_changes(struct page *page, const struct changes *changes, unsigned top)
{
	const struct dump *old = changes->old, *new = changes->new;
	put_title(page, old);
	put_title(page, new);
	if (old->totals.live_bytes >= 0 && new->totals.live_bytes >= 0) {
		uint64_t before = (uint64_t)old->totals.live_bytes,
		         after = (uint64_t) new->totals.live_bytes;
		set_tone(page, TONE_STRONG);
		const char *bytes = with_sign(page, before, after);
		fprintf(page->stream, "  %s byte%s", bytes, is_one(bytes) ? "" : "s");
		set_tone(page, TONE_PLAIN);
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
		set_tone(page, c->new_bytes > c->old_bytes ? TONE_ALERT : TONE_STRONG);
		const char *bytes = with_sign(page, c->old_bytes, c->new_bytes);
		fprintf(page->stream, "%s byte%s", bytes, is_one(bytes) ? "" : "s");
		set_tone(page, TONE_PLAIN);
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
	fprintf(page->stream, "%*s", FRAME_INDENT, "");
	set_tone(page, TONE_NAME);
	size_t width = page->style->width;
	put_text(page->stream,
	         width > FRAME_INDENT ? fitting_name(page, name, width - FRAME_INDENT) : name);
	set_tone(page, TONE_PLAIN);
	putc('\n', page->stream);
	arena_reset(&page->scratch);
}

/* Writes the steady growth in an hour, if the dumps say when they were made. */
static void put_rate(struct page *page, const struct growth *growth)
{
	int64_t seconds = growth->last_dump->seconds - growth->first_dump->seconds;
	if (growth->first_dump->seconds < 0 || seconds <= 0 || growth->steady_bytes <= 0)
		return;
	double hourly = (double)growth->steady_bytes * 3600 / (double)seconds;
	uint64_t rate = hourly < (double)INT64_MAX ? (uint64_t)hourly : INT64_MAX;
	fprintf(page->stream, ", %s an hour", with_unit(rate));
}

void put_growths(struct page *page, const struct growths *growths, unsigned top)
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
			fprintf(page->stream, "  compared with dump %lu, %s\n",
			        g->first_dump->sequence, dump_time(page, g->first_dump));
			titled = g->last_dump;
		}
		fputs("\n  ", page->stream);
		set_tone(page, g->steady_bytes > 0 ? TONE_ALERT : TONE_STRONG);
		fprintf(page->stream, "%s",
		        g->steady_bytes > 0
		                ? arena_format(&page->scratch, "grows steadily by %s",
		                               counted(page, (uint64_t)g->steady_bytes, "byte"))
		                : "grew, not steadily");
		set_tone(page, TONE_PLAIN);
		put_rate(page, g);
		fprintf(page->stream, ": %s to %s in %s\n", with_commas(g->first_bytes),
		        counted(page, g->last_bytes, "byte"),
		        counted(page, g->last_blocks, "block"));
		if (g->stack)
			put_stack(page, g->stack);
		else
			put_group_name(page, g->name);
	}
	if (growths->count == 0)
		fprintf(page->stream, "no %s grew\n",
		        growths->by == GROUP_NONE ? "call site" : group_kind_names[growths->by]);
}
