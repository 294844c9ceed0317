/* text_recording.c - what a dump's numbers count, and how exact they are, in the report for people,
 * see text_page.h. */
#include "tools/render/text_page.h"

#include <string.h>

void put_error(struct page *page, int64_t error)
{
	if (error >= 0)
		fprintf(page->stream, "; standard error %s",
		        counted(page, (uint64_t)error, "byte"));
}

/* Writes what is recorded now, if that was not all all the time. */
static void put_state(struct page *page, const struct totals *totals)
{
	if (!totals->recording)
		return;
	fprintf(page->stream, "  recording %s",
	        strcmp(totals->recording, "off") == 0      ? "is off"
	        : strcmp(totals->recording, "sample") == 0 ? "a sample"
	        : strcmp(totals->recording, "mixed") == 0  ? "differs by process"
	                                                   : "all blocks");
	if (totals->recording_since)
		fprintf(page->stream, " since %s", time_text(page, totals->recording_since));
	fputs(strcmp(totals->recording, "off") == 0
	              ? "; blocks that were allocated while it was off are missing\n"
	      : !totals->may_lack_blocks ? "\n"
	      : strcmp(totals->recording, "mixed") == 0
	              ? "; blocks that were allocated while it was off may be missing\n"
	              : "; blocks that were allocated before may be missing\n",
	      page->stream);
}

void put_recording(struct page *page, const struct totals *totals)
{
	const struct estimate *estimate = &totals->estimate;

	put_state(page, totals);
	if (totals->sample_interval <= 0 || estimate->sampled_blocks < 0)
		return;
	fprintf(page->stream, "  estimated from %s, one for each %s allocated",
	        counted(page, (uint64_t)estimate->sampled_blocks, "sampled block"),
	        with_unit((uint64_t)totals->sample_interval));
	put_error(page, estimate->live_bytes_error);
	putc('\n', page->stream);
}
