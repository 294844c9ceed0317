/* text_recording.c - what a dump's numbers count, and how exact they are, in the report for people,
 * see text_page.h. */
#include "tools/base/numbers.h"
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
	/* No sampled block is left: the numbers are exact. */
	if (estimate->sampled_blocks == 0 && totals->recording &&
	    strcmp(totals->recording, "all") == 0)
		return;
	fprintf(page->stream, "  estimated from %s, one for each %s allocated",
	        counted(page, (uint64_t)estimate->sampled_blocks, "sampled block"),
	        with_unit((uint64_t)totals->sample_interval));
	put_error(page, estimate->live_bytes_error);
	putc('\n', page->stream);
}

void put_left_out_origins(struct page *page, const struct dump *dump)
{
	static const char *const owners[] = {
	        [ORIGIN_PROGRAM] = "the program's own code",
	        [ORIGIN_LIBRARY] = "shared libraries",
	        [ORIGIN_SYSTEM] = "system libraries",
	};
	const struct totals *totals = &dump->totals;
	const char *joint = "";

	if (totals->left_out_blocks <= 0 || totals->left_out_bytes < 0)
		return;
	fprintf(page->stream, "  %s in %s of ",
	        counted(page, (uint64_t)totals->left_out_bytes, "byte"),
	        counted(page, (uint64_t)totals->left_out_blocks, "block"));
	for (unsigned i = 0; i < sizeof owners / sizeof *owners; i++)
		if (dump->left_out >> i & 1) {
			fprintf(page->stream, "%s%s", joint, owners[i]);
			joint = " and ";
		}
	fputs(" left out\n", page->stream);
}
