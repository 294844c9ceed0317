/* text_page.h - the report for people (render_text.c): the page that its parts write on.
 *
 * Colour marks what the words say; it says nothing else.
 */
#ifndef TOOLS_RENDER_TEXT_PAGE_H
#define TOOLS_RENDER_TEXT_PAGE_H

#include "tools/base/memory.h"
#include "tools/render/render.h"

struct page {
	FILE *stream;
	const struct style *style;
	bool all_frames;
	struct arena scratch; /* for the strings of one part */
	/* What was not shown: */
	size_t left_out;       /* how many call sites or rows */
	const char *left_what; /* what these are called, in the singular */
	bool cut_stacks;       /* frames beyond main */
};

/* -- words: text_page.c ------------------------------------------------------------------------ */

enum tone {
	TONE_PLAIN,
	TONE_STRONG,
	TONE_NAME,
	TONE_FAINT,
	TONE_ALERT,
};

/* Sets the colour of the text that follows, if the page has colours. */
void set_tone(const struct page *page, enum tone tone);

/* Returns "1 block" or "2 blocks" for the noun "block". */
const char *counted(struct page *page, uint64_t number, const char *noun);

/* Returns TIME, which is in RFC 3339 or NULL, for people. */
const char *time_text(struct page *page, const char *time);

/* Writes ", TIME", for a sum ", FIRST to TIME", and a colon. */
void put_span(struct page *page, const char *first, const char *time);

/* Notes that COUNT call sites or rows, which are called WHAT, are not shown. */
void leave_out(struct page *page, size_t count, const char *what);

/* -- stacks and names: text_stack.c ------------------------------------------------------------ */

enum {
	FRAME_INDENT = 6,    /* columns in front of a frame */
	NAME_MIN_WIDTH = 20, /* columns for the name of a function */
	NAME_MAX_WIDTH = 44,
};

/* Returns NAME so that it fits ROOM columns on a terminal, and whole elsewhere.  A long C++ name
 * loses what stands in its <> and (). */
const char *fitting_name(struct page *page, const char *name, size_t room);

/* Writes the frames of STACK from number FIRST on, down to main unless the page has all frames. */
void put_frames(struct page *page, const struct stack *stack, unsigned first);

/* Writes ", stack truncated" or the like if the stack of SITE is not complete. */
void put_stack_kind(const struct page *page, const struct site *site);

/* Writes the stack of a call site, from the function that asked for the memory on (askers.h). */
void put_stack(struct page *page, const struct stack *stack);

/* Writes the bytes and blocks of KIND, and the kind: definitely lost ones with those that they lead
 * to, in the words of valgrind. */
void put_kind(struct page *page, const struct reach_sums *reach, enum reach kind);

/* -- which dump: text_title.c ------------------------------------------------------------------ */

/* Returns the time of DUMP in words. */
const char *dump_time(struct page *page, const struct dump *dump);

/* Writes which dump DUMP is, and whether it is damaged. */
void put_title(struct page *page, const struct dump *dump);

/* Writes what is wrong with DUMP, if it is damaged. */
void put_damage(struct page *page, const struct dump *dump);

/* -- one dump: text_dump.c --------------------------------------------------------------------- */

/* Writes the report of misuse DUMP. */
void put_misuse(struct page *page, const struct dump *dump);

/* Writes DUMP with all that ANSWER shows of it. */
void put_dump(struct page *page, const struct dump *dump, const struct answer *answer);

/* -- groups of call sites: text_groups.c ------------------------------------------------------- */

/* Writes a table of the groups of DUMP by their KIND: at most TOP; 0 is all. */
void put_groups(struct page *page, const struct dump *dump, enum group_kind kind, unsigned top);

/* -- how exact the numbers are: text_recording.c ----------------------------------------------- */

/* Writes what of the program's blocks TOTALS count, unless they count all exactly. */
void put_recording(struct page *page, const struct totals *totals);

/* Writes whose blocks the totals of DUMP do not count, and how many. */
void put_left_out_origins(struct page *page, const struct dump *dump);

/* Writes "; standard error N bytes".  -1: nothing, the number is exact. */
void put_error(struct page *page, int64_t error);

/* -- what is over: text_past.c ----------------------------------------------------------------- */

/* Write which call sites of DUMP held most at the peak, and which have allocated most often so far:
 * at most TOP; 0 is a few. */
void put_peak(struct page *page, const struct dump *dump, unsigned top);
void put_allocated(struct page *page, const struct dump *dump, unsigned top);

/* Returns, in words, since when a dump with TOTALS counts what is allocated. */
const char *when_allocated(const struct totals *totals);

/* Writes ", N of them temporary" about the blocks that were allocated, if that is known. */
void put_temporary(struct page *page, const struct estimate *estimate);

/* -- comparisons: text_changes.c --------------------------------------------------------------- */

/* Write at most TOP call sites or groups; 0 is all. */
void put_changes(struct page *page, const struct changes *changes, unsigned top);
void put_growths(struct page *page, const struct growths *growths, unsigned top);

#endif
