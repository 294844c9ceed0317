/* util.h - what every stage of the tool needs: messages, memory, tables, files, text.
 *
 * A command lives as long as the process.  What it keeps comes from an arena and is released at
 * once.  Only buffers that are reused are freed one by one.  Without memory the tool ends.
 */
#ifndef TOOLS_UTIL_H
#define TOOLS_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* -- errors ------------------------------------------------------------------------------------ */

enum status {
	STATUS_FINE = 0,
	STATUS_LEAKS = 1, /* leaks, limits exceeded, audit findings, where asked */
	STATUS_USAGE = 2, /* usage or unreadable input */
};

/* Writes one line "leakwrap: …" to standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes such a line and ends the tool with STATUS_USAGE. */
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Sends the messages of complain of this thread to STREAM, without "leakwrap: ", or to standard
 * error again if STREAM is NULL. */
void send_complaints(FILE *stream);

/* Shows progress on standard error, if that is a terminal.  The next message or progress_done wipes
 * it. */
void progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_done(void);

/* -- memory ------------------------------------------------------------------------------------ */

/* Do what malloc, calloc, realloc and strdup do, but never return NULL.  libiberty has functions of
 * the same names, and calls these instead. */
void *xmalloc(size_t size);
void *xzalloc(size_t size); /* zero-filled */
void *xrealloc(void *block, size_t size);
char *xstrdup(const char *text);

/* Makes room for NEEDED elements in VECTOR, which has room for *CAPACITY elements of SIZE bytes.
 * Returns the vector, which may have moved. */
void *grow(void *vector, size_t *capacity, size_t needed, size_t size);

#define GROW(vector, capacity, needed) \
	((vector) = grow((vector), &(capacity), (needed), sizeof *(vector)))

struct arena {
	struct arena_chunk *chunk;
	size_t used;
};

/* Returns SIZE bytes of zeros, aligned for any object. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_copy(struct arena *arena, const char *text, size_t length);
char *arena_format(struct arena *arena, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Frees everything allocated, but keeps a chunk for the next allocations. */
void arena_reset(struct arena *arena);
void arena_free(struct arena *arena);

/* -- tables ------------------------------------------------------------------------------------ */

/* A set of entries, which it does not own.  A hash and a comparison find an entry. */
struct table {
	struct table_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t used;
};

typedef bool table_equal(const void *key, const void *entry);

/* Returns the entry that EQUAL accepts for KEY, or NULL. */
void *table_find(const struct table *table, uint64_t hash, const void *key, table_equal *equal);

/* Adds ENTRY, which TABLE must not have yet. */
void table_add(struct table *table, uint64_t hash, void *entry);
void table_free(struct table *table);

uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size);
uint64_t hash_word(uint64_t seed, uint64_t word);

/* Strings: equal ones have one address. */
struct strings {
	struct arena *arena;
	struct table table;
};
/* Returns the string that equals the first LENGTH bytes of TEXT.  Adds it if it is new. */
const char *intern(struct strings *strings, const char *text, size_t length);

/* Returns the string that equals TEXT, or NULL for NULL. */
const char *intern_text(struct strings *strings, const char *text);

/* -- files ------------------------------------------------------------------------------------- */

/* Opens the regular file PATH for reading.  Returns a descriptor, which the caller closes, or -1
 * with errno set.  Does not open a FIFO or a device, and never waits; then errno is EINVAL. */
int open_regular(const char *path);

/* -- files of settings ------------------------------------------------------------------------- */

/* The lines of a file.  Empty lines, and lines that begin with #, do not count. */
struct setting_lines {
	FILE *stream;
	unsigned long number; /* of the current line */
	char *line;           /* the caller's to free */
	size_t room;
};

/* Returns the next line that counts, without the blanks around it.  It is valid until the next
 * call.  Returns NULL with errno 0 at the end, and with errno set if the file cannot be read. */
const char *next_setting(struct setting_lines *lines);

/* -- numbers ----------------------------------------------------------------------------------- */

/* Adds MORE to *SUM, which stays at INT64_MAX where the sum would be larger. */
void add_up(uint64_t *sum, uint64_t more);

/* Returns NUMBER as a size, or SIZE_MAX where a size cannot hold it: numbers of files and of other
 * processes have 64 bits, also where the tool has 32. */
size_t to_size(uint64_t number);

/* -- text -------------------------------------------------------------------------------------- */

/* Returns "1,203,344" in one of several static buffers, which is valid for a few calls. */
const char *with_commas(uint64_t number);

/* Returns "1.15 MiB" in such a buffer. */
const char *with_unit(uint64_t bytes);

/* Returns "3.21 ms", a time of NS nanoseconds, in such a buffer. */
const char *with_unit_of_time(uint64_t ns);

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

/* Writes TEXT to STREAM, and "?" for each character that is no text. */
void put_text(FILE *stream, const char *text);

/* Writes TEXT so, and a number for each character that HTML would take for its own. */
void put_html(FILE *stream, const char *text);

/* Opens a stream whose bytes come to *BYTES when it is closed, *SIZE of them with a NUL behind.
 * The caller frees them. */
FILE *open_bytes(char **bytes, size_t *size);

/* Returns the last component of PATH. */
const char *base_name(const char *path);

/* Parses a decimal or 0x number.  Returns false if TEXT is anything else or too large. */
bool parse_number(const char *text, uint64_t *number);

/* Parses such a number, which may end in K, M, G or T (powers of 1024). */
bool parse_size(const char *text, uint64_t *bytes);

/* Sets *SECONDS since 1970 for "2026-11-20T18:36:07Z".  Returns false if TEXT has another form. */
bool parse_time(const char *text, int64_t *seconds);

#endif
