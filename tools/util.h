/* util.h - what every stage of the tool needs: errors, memory, interned things, numbers for people.
 *
 * Memory: a command lives as long as the process, so what is kept for the whole command comes from an
 * arena, which is released at once; only buffers that are reused are freed one by one.  Running out of
 * memory ends the tool.
 */
#ifndef TOOLS_UTIL_H
#define TOOLS_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* -- errors ----------------------------------------------------------------------------------- */

enum status {
	STATUS_FINE = 0,
	STATUS_LEAKS = 1, /* leaks, limits exceeded, audit findings, where asked */
	STATUS_USAGE = 2, /* usage or unreadable input */
};

/* One line "leakwrap: …" on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then exit(STATUS_USAGE). */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Progress on standard error when that is a terminal, otherwise nothing; the next message or
 * progress_done wipes it. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_done(void);

/* -- memory ----------------------------------------------------------------------------------- */

void *xmalloc(size_t size);
void *xzalloc(size_t size); /* zero-filled */
void *xrealloc(void *block, size_t size);
char *xstrdup(const char *text);

/* Makes room in VECTOR, which has CAPACITY elements of SIZE bytes, for at least NEEDED. */
void *grow(void *vector, size_t *capacity, size_t needed, size_t size);

#define GROW(vector, capacity, needed) \
	((vector) = grow((vector), &(capacity), (needed), sizeof *(vector)))

struct arena {
	struct arena_chunk *chunk;
	size_t used;
};

/* Zero-filled, aligned for any object. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_copy(struct arena *arena, const char *text, size_t length);
char *arena_format(struct arena *arena, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Forgets everything allocated; keeps a chunk for what comes next. */
void arena_reset(struct arena *arena);
void arena_free(struct arena *arena);

/* -- tables ----------------------------------------------------------------------------------- */

/* A set of entries found by a hash and a comparison; it does not own them. */
struct table {
	struct table_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t used;
};

typedef bool table_equal(const void *key, const void *entry);

/* The entry that EQUAL accepts for KEY, or NULL. */
void *table_find(const struct table *table, uint64_t hash, const void *key, table_equal *equal);

/* Adds an entry, which must not be there yet. */
void table_add(struct table *table, uint64_t hash, void *entry);
void table_free(struct table *table);

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);
uint64_t hash_word(uint64_t seed, uint64_t word);

/* Strings of which equal ones are the same pointer. */
struct strings {
	struct arena *arena;
	struct table table;
};
const char *intern(struct strings *strings, const char *text, size_t length);

/* The same of all of TEXT; of NULL it is NULL. */
const char *intern_text(struct strings *strings, const char *text);

/* -- files ------------------------------------------------------------------------------------ */

/* Opens the regular file PATH for reading.  Returns a descriptor, which is the caller's to close,
 * or -1 with errno set.  Never waits: a FIFO or a device is not opened, errno is then EINVAL. */
int open_regular(const char *path);

/* -- files of settings ------------------------------------------------------------------------ */

/* The lines of a file in which empty lines, and lines that begin with #, say nothing. */
struct setting_lines {
	FILE *stream;
	unsigned long number; /* of the current line */
	char *line;           /* the caller's to free */
	size_t room;
};

/* Returns the next line that says something, without the blanks around it, until the next call.
 * Returns NULL at the end, with errno 0, or if the file cannot be read. */
const char *next_setting(struct setting_lines *lines);

/* -- numbers ---------------------------------------------------------------------------------- */

/* Adds MORE to *SUM, which stays at INT64_MAX where the sum would be larger. */
void add_up(uint64_t *sum, uint64_t more);

/* -- text ------------------------------------------------------------------------------------- */

/* "1,203,344"; the result lives in one of several static buffers, until a few calls later. */
const char *with_commas(uint64_t number);

/* "1.15 MiB", likewise. */
const char *with_unit(uint64_t bytes);

/* A character of UTF-8, or a byte that is none. */
struct character {
	unsigned length; /* in bytes, at least 1 */
	uint32_t code;   /* its number in Unicode, or the byte */
	bool is_text; /* false for controls, controls of the direction of text, and bytes that are no
	                    character: none of these may reach a terminal or a page */
};

/* Returns the character that TEXT, which is not empty, begins with. */
struct character character_at(const char *text);

/* Returns how many bytes of TEXT stand before its end or its first character that is no text. */
size_t text_span(const char *text);

/* Writes TEXT to STREAM, with "?" for each character that is no text. */
void put_text(FILE *stream, const char *text);

/* The last component of PATH. */
const char *base_name(const char *path);

/* A whole decimal or 0x number; false when TEXT is anything else or does not fit. */
bool parse_number(const char *text, uint64_t *number);

/* The same with an optional K, M, G or T (powers of 1024) at the end. */
bool parse_size(const char *text, uint64_t *bytes);

/* Seconds since 1970 of "2026-11-20T18:36:07Z"; false when TEXT is not of that form. */
bool parse_time(const char *text, int64_t *seconds);

#endif
