/* text.c - see text.h. */
#include "tools/base/text.h"

#include <string.h>

/* Returns the length of the UTF-8 sequence at TEXT (RFC 3629, section 4), 0 if there is none. */
static unsigned utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char first, last;     /* the first byte */
		unsigned char lowest, highest; /* the second byte */
		unsigned char length;
	} forms[] = {
	        {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2},
	        {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
	        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
	        {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	size_t i = 0;
	while (i < sizeof forms / sizeof *forms &&
	       (*text < forms[i].first || *text > forms[i].last))
		i++;
	if (i == sizeof forms / sizeof *forms)
		return 0;
	unsigned length = forms[i].length;
	if (length > 1 && (text[1] < forms[i].lowest || text[1] > forms[i].highest))
		return 0;
	for (unsigned at = 2; at < length; at++)
		if ((text[at] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* Returns true for C0 and C1 controls, separators of lines and paragraphs, and controls of the
 * direction of text (Unicode Standard Annex 9, table 4). */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

struct character character_at(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned length = utf8_length(bytes);

	if (length == 0)
		return (struct character){1, *bytes, false};
	uint32_t code = length == 1 ? *bytes : *bytes & (0x7fu >> length);
	for (unsigned i = 1; i < length; i++)
		code = code << 6 | (bytes[i] & 0x3fu);
	return (struct character){length, code, !is_control(code)};
}

size_t text_span(const char *text)
{
	const char *at = text;
	while (*at) {
		struct character character = character_at(at);
		if (!character.is_text)
			break;
		at += character.length;
	}
	return (size_t)(at - text);
}

size_t text_head(const char *text, size_t most)
{
	size_t length = 0, next;

	while ((next = length + character_at(text + length).length) <= most)
		length = next;
	return length;
}

const char *text_tail(const char *text, size_t most)
{
	const char *tail = text + strlen(text) - most;

	while (text < tail)
		text += character_at(text).length;
	return text;
}

void put_text(FILE *stream, const char *text)
{
	while (*text) {
		size_t span = text_span(text);
		fwrite(text, 1, span, stream);
		text += span;
		if (*text) {
			putc('?', stream);
			text += character_at(text).length;
		}
	}
}

void put_html(FILE *stream, const char *text)
{
	while (*text) {
		const struct character c = character_at(text);

		if (!c.is_text)
			putc('?', stream);
		else if (c.length == 1 && strchr("<>&\"'", (int)c.code))
			fprintf(stream, "&#%u;", (unsigned)c.code);
		else
			fwrite(text, 1, c.length, stream);
		text += c.length;
	}
}
