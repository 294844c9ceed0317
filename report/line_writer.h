/* line_writer.h - writes lines of text to a descriptor without malloc, stdio or a lock.
 *
 * Lines are gathered and go out whole, as many at a time as fit: a page of them, or many pages when they are many and go to a
 * regular file, which takes those at once and at half the cost.  Everything here is signal-safe; a writer is used by one
 * thread at a time. */
#ifndef LEAKWRAP_LINE_WRITER_H
#define LEAKWRAP_LINE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/format.h"
#include "report/output.h"

/* Bytes gathered, and so of the longest line: less where memory is counted in kilobytes. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_TEXT_ROOM 256
#else
#define LEAKWRAP_TEXT_ROOM LEAKWRAP_LINE_MAX
#endif

struct leakwrap_writer {
	struct leakwrap_target target;
	bool failed;         /* something could not be written */
	bool cut;            /* the line being built is too long */
	unsigned long lines; /* whole lines so far */
	size_t used;         /* bytes of whole lines in the buffer */
	size_t line;         /* bytes of the line being built, behind them */
	const char *prefix;  /* begins every line */
	size_t prefix_size;
	char *buffer; /* own, or mapped for many lines */
	size_t room;  /* in it */
	char own[LEAKWRAP_TEXT_ROOM];
};

/* Lines go to FD and begin with PREFIX, which stays the caller's.  Signals are blocked until the last of them. */
void leakwrap_text_start(struct leakwrap_writer *writer, int fd, const char *prefix);

/* Parts of a line. */
void leakwrap_text(struct leakwrap_writer *writer, const char *text);
void leakwrap_text_bytes(struct leakwrap_writer *writer, const char *bytes, size_t size);
void leakwrap_text_number(struct leakwrap_writer *writer, uint64_t number);
void leakwrap_text_digits(struct leakwrap_writer *writer, uint64_t number,
                          unsigned width);                                /* zeros in front */
void leakwrap_text_hex(struct leakwrap_writer *writer, uintptr_t number); /* 0x1f */
void leakwrap_text_bytes_hex(struct leakwrap_writer *writer, const unsigned char *bytes, size_t size);

/* A name or a path from outside: what could be taken for the format is written \xHH (format.h); more than
 * LIMIT bytes of output are cut. */
void leakwrap_text_name(struct leakwrap_writer *writer, const char *name, size_t limit);

/* The line being built, writer->line bytes with its prefix; until more is written. */
static inline const char *leakwrap_text_line(const struct leakwrap_writer *writer)
{
	return writer->buffer + writer->used;
}

/* Ends the line. */
void leakwrap_text_end(struct leakwrap_writer *writer);

/* Writes what is in the buffer.  Returns whether all lines so far have been written. */
bool leakwrap_text_flush(struct leakwrap_writer *writer);

/* -- many lines ---------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

/* Right after leakwrap_text_start: many lines will follow, and leakwrap_text_finish behind the last one. */
void leakwrap_text_expect_many(struct leakwrap_writer *writer);

/* Where a whole line is to be written at once, when none has been begun: SIZE bytes, with its prefix and its end.  SPARE bytes behind
 * them may be overwritten; together they are no more than the longest line.  NULL: there is no room for them before some lines go out. */
static inline char *leakwrap_text_whole(struct leakwrap_writer *writer, size_t size, size_t spare)
{
	char *line = NULL;

	if (size + spare <= writer->room - writer->used) {
		line = writer->buffer + writer->used;
		writer->used += size;
		writer->lines++;
	}
	return line;
}

/* The same as leakwrap_text_flush.  Gives back what leakwrap_text_expect_many mapped. */
bool leakwrap_text_finish(struct leakwrap_writer *writer);

#else

static inline void leakwrap_text_expect_many(struct leakwrap_writer *writer)
{
	(void)writer;
}

static inline bool leakwrap_text_finish(struct leakwrap_writer *writer)
{
	return leakwrap_text_flush(writer);
}

#endif

/* -- elsewhere ----------------------------------------------------------------------------------- */

/* NUMBER in decimal at the end of BUFFER, which has room for SIZE bytes: 21 are enough.  Returns where it
 * begins; it ends in NUL. */
char *leakwrap_decimal(char *buffer, size_t size, uint64_t number);

/* One line outside of a dump, "leakwrap: " and TEXT and the strings MORE up to a NULL, to standard error. */
void leakwrap_message(const char *text, const char *const more[]);

#endif
