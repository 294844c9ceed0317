/* line_writer.h - writes lines of text to a descriptor without malloc, stdio or a lock.
 *
 * A writer gathers lines in a buffer and writes them out whole, as many at a time as fit.  The
 * buffer is a page.  For many lines to a regular file it is many pages: one write takes them all,
 * at half the cost.
 *
 * Everything here is signal-safe.  A writer is used by one thread at a time. */
#ifndef LEAKWRAP_LINE_WRITER_H
#define LEAKWRAP_LINE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/format.h"
#include "report/output.h"

/* Bytes of a writer's own buffer, and so of the longest line.  Bare-metal builds count memory in
 * kilobytes, and have a smaller buffer. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_TEXT_ROOM 320
#else
#define LEAKWRAP_TEXT_ROOM LEAKWRAP_LINE_MAX
#endif

/* The most bytes of output that the path of the program, or of the log, takes in a line. */
#define LEAKWRAP_PATH_LIMIT 2048

struct leakwrap_writer {
	struct leakwrap_output target;
	int error;           /* why some bytes could not be written: an errno value; 0: all were */
	bool is_cut;         /* the line being built is too long, and is cut */
	unsigned long lines; /* whole lines since the start */
	size_t used;         /* bytes of whole lines in the buffer */
	size_t line;         /* bytes of the line being built, which follows the whole lines */
	const char *prefix;  /* begins every line */
	size_t prefix_size;
	char *buffer; /* the member own, or memory that is mapped for many lines */
	size_t room;  /* bytes of buffer */
	char own[LEAKWRAP_TEXT_ROOM];
};

/* Starts WRITER: its lines go to FD and begin with PREFIX.  PREFIX stays the caller's, and must
 * live as long as lines are written.  The caller has blocked all signals until the last line is
 * written out. */
void leakwrap_writer_start(struct leakwrap_writer *writer, int fd, const char *prefix);

/* The functions that follow append to the line being built.  The first part of a line gets the
 * prefix before it.  If a part would make the line too long, it and all later parts are left
 * out. */
void leakwrap_write_text(struct leakwrap_writer *writer, const char *text);
void leakwrap_write_bytes(struct leakwrap_writer *writer, const char *bytes, size_t size);
void leakwrap_write_number(struct leakwrap_writer *writer, uint64_t number);

/* Writes KEY, which holds its own separators, and VALUE in decimal. */
void leakwrap_write_pair(struct leakwrap_writer *writer, const char *key, uint64_t value);

/* Writes the time SECONDS after 1970 in UTC, as RFC 3339 has it.  A negative time, of a clock that
 * was never set, becomes 1970. */
void leakwrap_write_time(struct leakwrap_writer *writer, int64_t seconds);

/* Appends NUMBER in decimal with at least WIDTH digits, zeros in front.  WIDTH: at most 23. */
void leakwrap_write_digits(struct leakwrap_writer *writer, uint64_t number, unsigned width);

/* Appends NUMBER in hexadecimal, as 0x1f. */
void leakwrap_write_hex(struct leakwrap_writer *writer, uintptr_t number);

/* Appends two hexadecimal digits for each of the SIZE bytes. */
void leakwrap_write_bytes_hex(struct leakwrap_writer *writer, const unsigned char *bytes,
                              size_t size);

/* Appends NAME, a name or a path that comes from outside.  Bytes that a reader could take for the
 * format are written \xHH (format.h).  Cuts the output at LIMIT bytes, and marks the cut with
 * \... */
void leakwrap_write_name(struct leakwrap_writer *writer, const char *name, size_t limit);

/* Returns the line being built: writer->line bytes, with the prefix.  The pointer is valid until
 * more is written. */
static inline const char *leakwrap_writer_line(const struct leakwrap_writer *writer)
{
	return writer->buffer + writer->used;
}

/* Ends the line.  Marks its end with \... if it was too long. */
void leakwrap_write_end(struct leakwrap_writer *writer);

/* Writes the whole lines out.  Returns whether all lines since the start have been written.  After
 * a failure nothing more is written. */
bool leakwrap_writer_flush(struct leakwrap_writer *writer);

/* -- many lines -------------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

/* Maps a larger buffer if lines go to a regular file.  Keeps the writer's own buffer if there is
 * no memory.  Called right after leakwrap_writer_start; leakwrap_writer_finish must follow the last
 * line. */
void leakwrap_writer_expect_many(struct leakwrap_writer *writer);

/* Adds a whole line of SIZE bytes, with its prefix and its LF, and returns the address to which
 * the caller must write it.  The caller may overwrite SPARE more bytes behind the line.  Returns
 * NULL, and adds nothing, if the buffer has no room until lines are written out.  No line may be
 * begun.  SIZE + SPARE is at most LEAKWRAP_TEXT_ROOM. */
static inline char *leakwrap_writer_add_line(struct leakwrap_writer *writer, size_t size,
                                             size_t spare)
{
	char *line = NULL;

	if (size + spare <= writer->room - writer->used) {
		line = writer->buffer + writer->used;
		writer->used += size;
		writer->lines++;
	}
	return line;
}

/* Writes the whole lines out, as leakwrap_writer_flush does, and unmaps the larger buffer.  Returns
 * whether all lines since the start have been written. */
bool leakwrap_writer_finish(struct leakwrap_writer *writer);

#else

static inline void leakwrap_writer_expect_many(struct leakwrap_writer *writer)
{
	(void)writer;
}

static inline bool leakwrap_writer_finish(struct leakwrap_writer *writer)
{
	return leakwrap_writer_flush(writer);
}

#endif

/* -- text outside of dumps --------------------------------------------------------------------- */

/* Writes NUMBER in decimal, and a NUL, to the end of the SIZE bytes at BUFFER: 21 bytes are enough
 * for any number.  Returns the address of the first digit. */
char *leakwrap_decimal(char *buffer, size_t size, uint64_t number);

/* Writes one line to standard error: "leakwrap: ", TEXT, and the strings of MORE, an array that
 * ends in NULL.  Writes nothing if standard error is not usable (output.h).  Blocks signals
 * meanwhile. */
void leakwrap_message(const char *text, const char *const more[]);

#endif
