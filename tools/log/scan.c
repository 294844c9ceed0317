/* scan.c - see scan.h. */
#include "tools/log/scan.h"

#include <string.h>

#include "tools/base/memory.h"

static void skip_spaces(struct cursor *c)
{
	while (c->at < c->end && *c->at == ' ')
		c->at++;
}

bool scan_decimal(struct cursor *c, uint64_t *number)
{
	int64_t value;
	if (!scan_count(c, &value))
		return false;
	*number = (uint64_t)value;
	return true;
}

bool scan_count(struct cursor *c, int64_t *number)
{
	const char *start = c->at;
	int64_t value = 0;
	for (; c->at < c->end && (unsigned char)(*c->at - '0') < 10; c->at++) {
		int digit = *c->at - '0';
		if (value > (INT64_MAX - digit) / 10)
			return false;
		value = 10 * value + digit;
	}
	*number = value;
	return c->at > start;
}

bool scan_small(struct cursor *c, unsigned *number)
{
	uint64_t value;
	if (!scan_decimal(c, &value) || value > UINT32_MAX)
		return false;
	*number = (unsigned)value;
	return true;
}

int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool scan_hex(struct cursor *c, uint64_t *number)
{
	if (!skip_text(c, "0x"))
		return false;
	const char *start = c->at;
	uint64_t value = 0;
	for (int digit; c->at < c->end && (digit = hex_digit(*c->at)) >= 0; c->at++) {
		if (value >> 60)
			return false;
		value = value << 4 | (unsigned)digit;
	}
	*number = value;
	return c->at > start;
}

struct cursor scan_word(struct cursor *c)
{
	struct cursor word = {c->at, c->at};
	while (word.end < c->end && *word.end != ' ')
		word.end++;
	c->at = word.end;
	return word;
}

bool next_word(struct cursor *c, struct cursor *word)
{
	skip_spaces(c);
	*word = scan_word(c);
	return !at_end(word);
}

const char *unescape(struct arena *arena, const struct cursor *text)
{
	char *out = arena_alloc(arena, (size_t)(text->end - text->at) + 1); /* zeros */
	char *p = out;
	size_t length = (size_t)(text->end - text->at);
	if (!memchr(text->at, '\\', length)) {
		memcpy(out, text->at, length);
		return out;
	}
	for (const char *s = text->at; s < text->end;) {
		if (text->end - s >= 4 && s[0] == '\\' && s[1] == 'x' && hex_digit(s[2]) >= 0 &&
		    hex_digit(s[3]) >= 0 && (s[2] != '0' || s[3] != '0')) {
			*p++ = (char)(hex_digit(s[2]) << 4 | hex_digit(s[3]));
			s += 4;
		} else if (*s == '\\') {
			s++; /* a shortened name ends with \... */
		} else {
			*p++ = *s++;
		}
	}
	*p = '\0';
	return out;
}

bool split_offset(const struct cursor *word, struct cursor *name, uint64_t *offset)
{
	const char *plus = word->end;
	while (plus > word->at && *plus != '+')
		plus--;
	if (plus == word->at)
		return false;
	struct cursor number = {plus + 1, word->end};
	*name = (struct cursor){word->at, plus};
	return scan_hex(&number, offset) && at_end(&number);
}
