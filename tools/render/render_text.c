/* render_text.c - the report for people. */
#include "tools/base/memory.h"
#include "tools/model/merge.h"
#include "tools/render/text_page.h"

/* Writes a line about what was not shown, and how to see it.  DUMPS: how many dumps were not
 * shown. */
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
	set_tone(page, TONE_FAINT);
	for (size_t i = 0; i < count; i++)
		fprintf(page->stream, "%s%s",
		        i == 0          ? "Not shown: "
		        : i + 1 < count ? ", "
		                        : " and ",
		        parts[i]);
	if (count)
		fputs(": --all shows them.", page->stream);
	if (answer->merged)
		fprintf(page->stream,
		        "%s--each reports each process, leakwrap list names their dumps.",
		        count ? "  " : "");
	else if (dumps)
		fputs("  leakwrap list names the dumps.", page->stream);
	putc('\n', page->stream);
	set_tone(page, TONE_PLAIN);
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
	for (size_t i = 0; answer->dumps && !answer->merged && i < answer->dumps->count;
	     i++, shown++) {
		if (i)
			putc('\n', stream);
		put_dump(&page, answer->dumps->all[i], answer);
	}
	if (answer->changes)
		put_changes(&page, answer->changes, answer->top);
	if (answer->growths)
		put_growths(&page, answer->growths, answer->top);
	/* A sum may be of dumps that are gone. */
	bool has_more = answer->dumps && report->dump_count > shown;
	put_left_out(&page, answer, has_more ? report->dump_count - shown : 0);
	arena_free(&page.scratch);
}
