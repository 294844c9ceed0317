/* text.h - text of foreign files, which may hold anything. */
#ifndef TOOLS_BASE_TEXT_H
#define TOOLS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A character of UTF-8, or a byte that is none. */
struct character {
	unsigned length; /* in bytes, at least 1 */
	uint32_t code;   /* its number in Unicode, or the byte */
	/* False for controls, controls of the direction of text, and bytes that are no character.
	 * None of these may reach a terminal or a page. */
	bool is_text;
};

/* Returns the first character of TEXT, which is not empty. */
struct character character_at(const char *text);

/* Returns how many bytes of TEXT precede its end, or its first character that is no text. */
size_t text_span(const char *text);

/* Returns how many of the first MOST bytes of TEXT, which is longer, are whole characters. */
size_t text_head(const char *text, size_t most);

/* Returns the whole characters among the last MOST bytes of TEXT, which is longer. */
const char *text_tail(const char *text, size_t most);

/* Writes TEXT to STREAM, and "?" for each character that is no text. */
void put_text(FILE *stream, const char *text);

/* Writes TEXT so, and a number for each character that HTML would take for its own. */
void put_html(FILE *stream, const char *text);

#endif
