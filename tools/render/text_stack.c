/* text_stack.c - stacks and names in the report for people, see text_page.h.
 *
 * On a terminal long places are shortened on the left, where the folders are.  Anywhere else every
 * line is written in full.
 */
#include "tools/base/memory.h"
#include "tools/base/text.h"
#include "tools/render/text_page.h"

#include <limits.h>
#include <string.h>

static const char inlined_mark[] = " (inlined)";

/* Returns the length of the part at TEXT of a name whose brackets hold no list: "operator()" and
 * "(anonymous namespace)" of C++, "->" of Rust.  Returns 0 if there is no such part. */
static size_t unlisted_length(const char *text)
{
	static const char anonymous[] = "(anonymous namespace)";
	if (strncmp(text, anonymous, sizeof anonymous - 1) == 0)
		return sizeof anonymous - 1;
	if (strncmp(text, "operator()", 10) == 0)
		return 10;
	if (strncmp(text, "->", 2) == 0)
		return 2;
	return strncmp(text, "operator", 8) == 0 ? 8 + strspn(text + 8, "<>-=!+*/%^&|~,[]") : 0;
}

/* Returns NAME.  If it is wider than a column, "..." replaces what stands in its <> and ().  The
 * brackets that begin a method of Rust stay: "<Vec<...> as Clone>::clone". */
static const char *short_name(struct page *page, const char *name)
{
	size_t length = strlen(name), step;
	if (length <= NAME_MAX_WIDTH)
		return name;
	char *out = arena_alloc(&page->scratch, 4 * length + 1), *p = out;
	unsigned depth = 0;
	const char *s = name;
	if (*s == '<')
		*p++ = *s++;
	for (; *s; s += step) {
		step = unlisted_length(s);
		if (step) {
			if (depth == 0)
				p = mempcpy(p, s, step);
			continue;
		}
		step = 1;
		if (*s == '<' || *s == '(') {
			if (depth++ == 0) {
				*p++ = *s;
				p = stpcpy(p, s[1] == ')' ? "" : "...");
			}
		} else if (*s == '>' || *s == ')') {
			if (depth == 0 || --depth == 0)
				*p++ = *s;
		} else if (depth == 0) {
			*p++ = *s;
		}
	}
	*p = '\0';
	return out;
}

/* Returns NAME, cut to ROOM columns on a terminal.  A C++ name keeps its end, which says most; any
 * other name keeps its beginning. */
static const char *cut_to_room(struct page *page, const char *name, size_t room)
{
	static const char mark[] = "...";
	size_t length = strlen(name);
	if (page->style->width == 0 || length <= room || room <= sizeof mark)
		return name;
	size_t kept = room - (sizeof mark - 1);
	if (strstr(name, "::"))
		return arena_format(&page->scratch, "%s%s", mark, text_tail(name, kept));
	return arena_format(&page->scratch, "%.*s%s", (int)text_head(name, kept), name, mark);
}

const char *fitting_name(struct page *page, const char *name, size_t room)
{
	return page->style->width ? cut_to_room(page, short_name(page, name), room) : name;
}

/* The frames of a stack from FIRST up to LAST - 1, counted with inlined frames. */
struct range {
	unsigned first, last;
};

/* Returns the width of the column for the names in RANGE of STACK.  Names that are too long for a
 * column do not count. */
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

/* Writes FRAME of AT in a line, with WIDTH columns for its name. */
static void put_frame(struct page *page, const struct location *at, const struct frame *frame,
                      unsigned width)
{
	const char *place = frame_place(&page->scratch, at, frame);
	const char *name = frame->function ? short_name(page, frame->function) : "?";
	size_t inlined = frame->inlined ? strlen(inlined_mark) : 0,
	       all = FRAME_INDENT + 2 + inlined;
	/* On a terminal name and place share a line.  The name takes what the place leaves, and at
	 * least half of the line. */
	size_t free = page->style->width > all ? page->style->width - all : 0;
	size_t most = strlen(place) < free / 2 ? free - strlen(place) : free / 2;
	name = cut_to_room(page, name, most);
	if (free && width > most)
		width = (unsigned)most;
	size_t length = strlen(name), used = length > width ? length : width;

	fprintf(page->stream, "%*s", FRAME_INDENT, "");
	set_tone(page, TONE_NAME);
	put_text(page->stream, name);
	set_tone(page, TONE_PLAIN);
	fprintf(page->stream, "%*s  ", length < width ? (int)(width - length) : 0, "");
	set_tone(page, TONE_FAINT);
	size_t room = free > used ? free - used : 0;
	if (room > 3 && strlen(place) > room) {
		fputs("...", page->stream);
		place = text_tail(place, room - 3);
	}
	put_text(page->stream, place);
	if (frame->inlined)
		fputs(inlined_mark, page->stream);
	set_tone(page, TONE_PLAIN);
	putc('\n', page->stream);
}

/* Returns the name of FRAME without template arguments and parameters. */
static const char *wrapper_name(struct page *page, const struct location *at,
                                const struct frame *frame)
{
	return frame->function ? plain_name(&page->scratch, frame->function)
	                       : frame_name(&page->scratch, at, frame);
}

/* Writes the first COUNT frames of STACK, which are wrappers of an allocator, in one line.  A
 * single wrapper is written with its place: it may be another function of a wrapper's name. */
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
	size_t used = FRAME_INDENT + sizeof mark - 1;
	size_t room = page->style->width > used ? page->style->width - used : 0;
	if (room > 3 && strlen(names) > room)
		names = arena_format(&page->scratch, "%.*s...", (int)text_head(names, room - 3),
		                     names);
	fprintf(page->stream, "%*s", FRAME_INDENT, "");
	set_tone(page, TONE_FAINT);
	fputs(mark, page->stream);
	put_text(page->stream, names);
	set_tone(page, TONE_PLAIN);
	putc('\n', page->stream);
}

/* A recursion: LENGTH locations of a stack, and how many TIMES they come again behind themselves.
 */
struct cycle {
	unsigned length, times;
};

/* Longer cycles are not looked for. */
enum { CYCLE_MAX = 16 };

/* Cycles that come again for fewer locations than this are written out. */
enum { FOLDED_MIN = 6 };

/* Returns how many times the LENGTH locations from number I on come again behind themselves. */
static unsigned times_again(const struct stack *stack, unsigned i, unsigned length)
{
	unsigned same = 0;
	while (i + length + same < stack->depth &&
	       stack->at[i + same] == stack->at[i + length + same])
		same++;
	return same / length;
}

/* Returns the cycle at the location number I that comes again for the most locations, the shortest
 * if there are several.  Its TIMES are 0 if there is none to fold. */
static struct cycle find_cycle(const struct stack *stack, unsigned i)
{
	struct cycle best = {1, 0};
	for (unsigned length = 1; length <= CYCLE_MAX; length++) {
		unsigned times = times_again(stack, i, length);
		if (times * length >= FOLDED_MIN && times * length > best.times * best.length)
			best = (struct cycle){length, times};
	}
	return best;
}

/* Returns how many frames the COUNT locations from number I on have. */
static unsigned frames_of(const struct stack *stack, unsigned i, unsigned count)
{
	unsigned frames = 0;
	while (count-- > 0)
		frames += stack->at[i++]->frame_count;
	return frames;
}

/* Writes the frames of AT that are in RANGE.  NUMBER is the number of its first frame in the stack.
 * Returns the number of the frame behind its last. */
static unsigned put_location(struct page *page, const struct location *at, unsigned number,
                             struct range range, unsigned width)
{
	for (unsigned j = 0; j < at->frame_count; j++, number++)
		if (number >= range.first && number < range.last)
			put_frame(page, at, &at->frames[j], width);
	return number;
}

/* Writes that the last FRAMES frames come TIMES more times. */
static void put_times(struct page *page, unsigned frames, unsigned times)
{
	fprintf(page->stream, "%*s", FRAME_INDENT, "");
	set_tone(page, TONE_FAINT);
	if (frames > 1)
		fprintf(page->stream, "(these %u frames %u more times)", frames, times);
	else
		fprintf(page->stream, "(%u more times)", times);
	set_tone(page, TONE_PLAIN);
	putc('\n', page->stream);
}

/* A recursion is written once, unless the page has all frames. */
void put_frames(struct page *page, const struct stack *stack, unsigned first)
{
	struct range range = {first, UINT_MAX};
	unsigned number = 0;

	if (!page->all_frames)
		range.last = frames_to_main(stack);
	unsigned width = name_width(page, stack, range);
	if (stack->depth == 0)
		fprintf(page->stream, "%*s(no stack)\n", FRAME_INDENT, "");
	for (unsigned i = 0; i < stack->depth;) {
		struct cycle cycle = {1, 0};
		if (!page->all_frames && number >= range.first)
			cycle = find_cycle(stack, i);
		unsigned frames = frames_of(stack, i, cycle.length);
		for (unsigned end = i + cycle.length; i < end; i++)
			number = put_location(page, stack->at[i], number, range, width);
		if (cycle.times > 0 && number < range.last)
			put_times(page, frames, cycle.times);
		i += cycle.times * cycle.length;
		number += cycle.times * frames;
	}
	if (number > range.last)
		page->cut_stacks = true;
}

void put_stack_kind(const struct page *page, const struct site *site)
{
	if (site->is_cut)
		fprintf(page->stream, ", stack cut at depth=%u", site->stack->depth);
	else if (site->kind != STACK_COMPLETE)
		fprintf(page->stream, ", stack %s", stack_kind_names[site->kind]);
}

void put_stack(struct page *page, const struct stack *stack)
{
	unsigned first = page->all_frames ? 0 : stack->asked;
	if (first)
		put_wrappers(page, stack, first);
	put_frames(page, stack, first);
	arena_reset(&page->scratch);
}
