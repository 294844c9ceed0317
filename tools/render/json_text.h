/* json_text.h - makes and writes JSON, for the documents of several commands.  Names in it come
 * from foreign files, and it may go to a terminal.  All functions end the tool if there is no
 * memory. */
#ifndef TOOLS_RENDER_JSON_TEXT_H
#define TOOLS_RENDER_JSON_TEXT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* Sets KEY of OBJECT to VALUE, which it takes over. */
void set_json(json_t *object, const char *key, json_t *value);

/* Adds VALUE, which it takes over, to ARRAY. */
void append_json(json_t *array, json_t *value);

/* Returns VALUE as a string, or null if it is NULL.  If VALUE is not UTF-8, bytes outside ASCII are
 * written as \xNN. */
json_t *text_json(const char *value);

json_t *number_json(uint64_t value);

/* Returns VALUE as the string "0x1a2b". */
json_t *hex_json(uint64_t value);

/* Writes VALUE to STREAM, and frees it.  Characters that are no text (base/text.h) are escaped.
 * INDENT: how many spaces each level stands further in, on lines of its own; 0: all is on one
 * line. */
void put_json(FILE *stream, json_t *value, unsigned indent);

/* Writes OBJECT so on one line, without its closing brace: more keys can follow. */
void put_open_json(FILE *stream, json_t *object);

#endif
