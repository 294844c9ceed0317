/* scan.h - reads the words and numbers of a dump's line (report/format.h).
 *
 * A cursor is what is left of a line.  What is found is taken off it; where something else stands, a scan_
 * function returns false, and the cursor may be anywhere.
 */
#ifndef TOOLS_SCAN_H
#define TOOLS_SCAN_H

#include <string.h>

#include "tools/util.h"

struct cursor {
	const char *at, *end;
};

static inline bool at_end(const struct cursor *c)
{
	return c->at == c->end;
}

static inline bool starts_with(const struct cursor *c, const char *text)
{
	size_t length = strlen(text);
	return (size_t)(c->end - c->at) >= length && memcmp(c->at, text, length) == 0;
}

/* Takes TEXT off; false when C does not start with it, and then C stays where it is. */
static inline bool skip_text(struct cursor *c, const char *text)
{
	if (!starts_with(c, text))
		return false;
	c->at += strlen(text);
	return true;
}

/* Takes off the bytes up to the next space, perhaps none. */
struct cursor scan_word(struct cursor *c);

/* The next word behind any spaces; false at the end of the line. */
bool next_word(struct cursor *c, struct cursor *word);

static inline bool word_is(const struct cursor *word, const char *text)
{
	size_t length = strlen(text);
	return (size_t)(word->end - word->at) == length && memcmp(word->at, text, length) == 0;
}

/* Each takes off a number.  A decimal one is at most INT64_MAX, so that JSON's readers take it for an
 * integer; a small one at most UINT32_MAX; a hexadecimal one stands behind 0x. */
bool scan_decimal(struct cursor *c, uint64_t *number);
bool scan_count(struct cursor *c, int64_t *number);
bool scan_small(struct cursor *c, unsigned *number);
bool scan_hex(struct cursor *c, uint64_t *number);

/* The value of a hexadecimal digit, -1 of any other character. */
int hex_digit(char c);

/* Splits "NAME+0xOFFSET" at its last plus sign. */
bool split_offset(const struct cursor *word, struct cursor *name, uint64_t *offset);

/* A path or name as it was before the dump escaped it, from ARENA. */
const char *unescape(struct arena *arena, const struct cursor *text);

#endif
