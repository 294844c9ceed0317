/* scan.h - reads the words and numbers of a dump's line (report/format.h).
 *
 * A cursor is the rest of a line.  A scan_ function takes off what it reads.  It returns false if
 * something else stands there, and then the cursor may be anywhere.
 */
#ifndef TOOLS_LOG_SCAN_H
#define TOOLS_LOG_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tools/base/memory.h"

struct cursor {
	const char *at, *end;
};

static inline bool at_end(const struct cursor *c)
{
	return c->at == c->end;
}

/* Returns true if C starts with TEXT. */
static inline bool starts_with(const struct cursor *c, const char *text)
{
	size_t length = strlen(text);
	return (size_t)(c->end - c->at) >= length && memcmp(c->at, text, length) == 0;
}

/* Takes TEXT off.  Returns false, and leaves C as it is, if C does not start with TEXT. */
static inline bool skip_text(struct cursor *c, const char *text)
{
	if (!starts_with(c, text))
		return false;
	c->at += strlen(text);
	return true;
}

/* Takes off and returns the bytes up to the next space, which may be none. */
struct cursor scan_word(struct cursor *c);

/* Takes off spaces, and the word behind them.  Returns false at the end of the line. */
bool next_word(struct cursor *c, struct cursor *word);

static inline bool word_is(const struct cursor *word, const char *text)
{
	size_t length = strlen(text);
	return (size_t)(word->end - word->at) == length && memcmp(word->at, text, length) == 0;
}

/* Take off a number.  A decimal number is at most INT64_MAX, because readers of JSON take no larger
 * integer.  A small number is at most UINT32_MAX.  A hexadecimal number stands behind 0x. */
bool scan_decimal(struct cursor *c, uint64_t *number);
bool scan_count(struct cursor *c, int64_t *number);
bool scan_small(struct cursor *c, unsigned *number);
bool scan_hex(struct cursor *c, uint64_t *number);

/* Returns the value of a hexadecimal digit, or -1 for any other character. */
int hex_digit(char c);

/* Splits "NAME+0xOFFSET" at its last plus sign.  Returns false if WORD is anything else. */
bool split_offset(const struct cursor *word, struct cursor *name, uint64_t *offset);

/* Returns the path or name that the runtime escaped as TEXT.  The string is ARENA's. */
const char *unescape(struct arena *arena, const struct cursor *text);

#endif
