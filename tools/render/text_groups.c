/* text_groups.c - the table of groups in the report for people, see text_page.h. */
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/text.h"
#include "tools/model/kinds.h"
#include "tools/render/text_page.h"

#include <stdlib.h>

/* The columns of numbers of a table of groups. */
enum column {
	COLUMN_LOST,
	COLUMN_POSSIBLE,
	COLUMN_HERE,
	COLUMN_BLOCKS,
	COLUMN_SITES,
	COLUMN_THROUGH,
	COLUMNS,
};

static const struct {
	const char *title;
	int width;
} columns[COLUMNS] = {{"definitely lost", 15}, {"possibly lost", 15}, {"bytes here", 15},
                      {"blocks", 12},          {"sites", 8},          {"bytes through", 15}};

/* Chooses the columns for the groups of DUMP: those of kinds only if they are known.  A narrow
 * terminal then has no room for some others.  Returns the width of all. */
static size_t choose_columns(const struct page *page, const struct dump *dump, bool shown[COLUMNS])
{
	const size_t width = page->style->width;
	const size_t room = width == 0               ? SIZE_MAX
	                    : width > NAME_MIN_WIDTH ? width - NAME_MIN_WIDTH
	                                             : 0;
	const bool has_kinds = dump->totals.reach.is_known;
	size_t all = 3;

	for (unsigned i = 0; i < COLUMNS; i++) {
		shown[i] = has_kinds || i >= COLUMN_HERE;
		all += shown[i] ? (size_t)columns[i].width + 1 : 0;
	}
	for (unsigned i = COLUMN_POSSIBLE; has_kinds && all > room && i < COLUMN_THROUGH; i++)
		if (i != COLUMN_HERE) {
			shown[i] = false;
			all -= (size_t)columns[i].width + 1;
		}
	return all;
}

/* Writes the numbers of GROUP, or the titles of the columns if it is NULL. */
static void put_columns(const struct page *page, const bool shown[COLUMNS],
                        const struct group *group)
{
	putc(' ', page->stream);
	for (unsigned i = 0; i < COLUMNS; i++) {
		const uint64_t numbers[COLUMNS] = {
		        group ? lost_bytes(&group->reach) : 0,
		        group ? group->reach.bytes[REACH_POSSIBLE] : 0,
		        group ? group->bytes : 0,
		        group ? group->blocks : 0,
		        group ? group->sites : 0,
		        group ? group->through_bytes : 0,
		};
		if (shown[i])
			fprintf(page->stream, " %*s", columns[i].width,
			        group ? with_commas(numbers[i]) : columns[i].title);
	}
	fputs("  ", page->stream);
}

void put_groups(struct page *page, const struct dump *dump, enum group_kind kind, unsigned top)
{
	struct arena arena = {0};
	struct groups groups = group_dump(&arena, dump, kind);
	bool shown[COLUMNS];
	size_t numbers = choose_columns(page, dump, shown);
	size_t room = page->style->width > numbers + NAME_MIN_WIDTH ? page->style->width - numbers
	                                                            : NAME_MIN_WIDTH;

	putc('\n', page->stream);
	set_tone(page, TONE_FAINT);
	put_columns(page, shown, NULL);
	fprintf(page->stream, "%s\n", group_kind_names[kind]);
	set_tone(page, TONE_PLAIN);
	for (size_t i = 0; i < groups.count; i++) {
		const struct group *group = groups.all[i];
		if (top && i == top) {
			leave_out(page, groups.count - i, group_kind_names[kind]);
			break;
		}
		put_columns(page, shown, group);
		set_tone(page, TONE_NAME);
		put_text(page->stream, fitting_name(page, group->name, room));
		set_tone(page, TONE_PLAIN);
		putc('\n', page->stream);
	}
	free(groups.all);
	arena_free(&arena);
}
