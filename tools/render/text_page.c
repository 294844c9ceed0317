/* text_page.c - see text_page.h. */
#include "tools/render/text_page.h"

#include "tools/base/numbers.h"
#include "tools/model/kinds.h"

#include <string.h>

void set_tone(const struct page *page, enum tone tone)
{
	static const char *const codes[] = {"\033[0m", "\033[1m", "\033[36m", "\033[2m",
	                                    "\033[31m"};
	if (page->style->color)
		fputs(codes[tone], page->stream);
}

const char *counted(struct page *page, uint64_t number, const char *noun)
{
	bool ends_in_s = noun[strlen(noun) - 1] == 's';
	return arena_format(&page->scratch, "%s %s%s", with_commas(number), noun,
	                    number == 1 ? ""
	                    : ends_in_s ? "es"
	                                : "s");
}

const char *time_text(struct page *page, const char *time)
{
	if (!time)
		return "at an unknown time";
	return arena_format(&page->scratch, "%.10s %.8s UTC", time, time + 11);
}

void put_span(struct page *page, const char *first, const char *time)
{
	if (first && strcmp(first, time) != 0)
		fprintf(page->stream, ", %s to %s:", time_text(page, first), time_text(page, time));
	else
		fprintf(page->stream, ", %s:", time_text(page, time));
}

void put_kind(struct page *page, const struct reach_sums *reach, enum reach kind)
{
	if (kind == REACH_DEFINITE && reach->blocks[kind] == 0 && reach->blocks[REACH_INDIRECT] > 0)
		kind = REACH_INDIRECT;
	if (kind == REACH_DEFINITE && reach->blocks[REACH_INDIRECT] > 0)
		fprintf(page->stream, "%s (%s direct + %s indirect) in %s",
		        counted(page, lost_bytes(reach), "byte"), with_commas(reach->bytes[kind]),
		        with_commas(reach->bytes[REACH_INDIRECT]),
		        counted(page, lost_blocks(reach), "block"));
	else
		fprintf(page->stream, "%s in %s", counted(page, reach->bytes[kind], "byte"),
		        counted(page, reach->blocks[kind], "block"));
	fprintf(page->stream, " %s", kind_texts[kind]);
}

void leave_out(struct page *page, size_t count, const char *what)
{
	page->left_out += count;
	page->left_what = what;
}
