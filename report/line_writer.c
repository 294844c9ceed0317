/* line_writer.c - see line_writer.h. */
#include "report/line_writer.h"

#include "report/output.h"
#include "wrap/port/port.h"

#include <string.h>

#define CUT_MARK "\\..."

/* The bytes that each line reserves for CUT_MARK and LF: the mark's NUL counts for the LF. */
#define LINE_END_SIZE (sizeof(CUT_MARK))

/* Writes the whole lines in the buffer out, and moves the line being built to the buffer's start.
 * Writes nothing after a failure: a reader that stopped reading costs one wait, not one wait for
 * each page. */
static void write_lines(struct leakwrap_writer *writer)
{
	if (writer->used > 0 && writer->error == 0)
		writer->error =
		        leakwrap_output_write(&writer->target, writer->buffer, writer->used);
	memmove(writer->buffer, writer->buffer + writer->used, writer->line);
	writer->used = 0;
}

/* Appends SIZE bytes to the line being built.  Cuts the line there if it would be too long. */
static void append(struct leakwrap_writer *writer, const char *bytes, size_t size)
{
	if (writer->is_cut || writer->line + size > LEAKWRAP_TEXT_ROOM - LINE_END_SIZE) {
		writer->is_cut = true;
		return;
	}
	/* Whole lines go out to make room for the line being built. */
	if (writer->used + writer->line + size > writer->room - LINE_END_SIZE)
		write_lines(writer);
	memcpy(writer->buffer + writer->used + writer->line, bytes, size);
	writer->line += size;
}

static void begin_line(struct leakwrap_writer *writer)
{
	if (writer->line == 0)
		append(writer, writer->prefix, writer->prefix_size);
}

static void set_buffer(struct leakwrap_writer *writer, char *buffer, size_t room)
{
	writer->buffer = buffer;
	writer->room = room;
}

void leakwrap_writer_start(struct leakwrap_writer *writer, int fd, const char *prefix)
{
	leakwrap_output_begin(&writer->target, fd);
	writer->error = 0;
	writer->is_cut = false;
	writer->lines = 0;
	writer->used = writer->line = 0;
	writer->prefix = prefix;
	writer->prefix_size = strlen(prefix);
	set_buffer(writer, writer->own, sizeof(writer->own));
}

void leakwrap_write_bytes(struct leakwrap_writer *writer, const char *bytes, size_t size)
{
	begin_line(writer);
	append(writer, bytes, size);
}

void leakwrap_write_text(struct leakwrap_writer *writer, const char *text)
{
	leakwrap_write_bytes(writer, text, strlen(text));
}

char *leakwrap_decimal(char *buffer, size_t size, uint64_t number)
{
	char *digit = buffer + size - 1;

	*digit = '\0';
	do {
		*--digit = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return digit;
}

void leakwrap_write_number(struct leakwrap_writer *writer, uint64_t number)
{
	char buffer[24];
	const char *digits = leakwrap_decimal(buffer, sizeof(buffer), number);

	leakwrap_write_bytes(writer, digits, (size_t)(buffer + sizeof(buffer) - 1 - digits));
}

void leakwrap_write_digits(struct leakwrap_writer *writer, uint64_t number, unsigned width)
{
	char buffer[24];
	char *end = buffer + sizeof(buffer) - 1;
	char *digits = leakwrap_decimal(buffer, sizeof(buffer), number);

	while (digits > buffer && (size_t)(end - digits) < width)
		*--digits = '0';
	leakwrap_write_text(writer, digits);
}

static const char hex_digits[] = "0123456789abcdef";

void leakwrap_write_hex(struct leakwrap_writer *writer, uintptr_t number)
{
	char buffer[2 + 2 * sizeof(number)];
	char *end = buffer + sizeof(buffer);
	char *digit = end;

	do {
		*--digit = hex_digits[number & 15];
		number >>= 4;
	} while (number > 0);
	*--digit = 'x';
	*--digit = '0';
	leakwrap_write_bytes(writer, digit, (size_t)(end - digit));
}

void leakwrap_write_bytes_hex(struct leakwrap_writer *writer, const unsigned char *bytes,
                              size_t size)
{
	for (size_t i = 0; i < size; i++) {
		leakwrap_write_bytes(writer, &hex_digits[bytes[i] >> 4], 1);
		leakwrap_write_bytes(writer, &hex_digits[bytes[i] & 15], 1);
	}
}

void leakwrap_write_name(struct leakwrap_writer *writer, const char *name, size_t limit)
{
	size_t written = 0;

	begin_line(writer);
	for (; *name != '\0'; name++) {
		unsigned char byte = (unsigned char)*name;
		const char escaped[] = {'\\', 'x', hex_digits[byte >> 4], hex_digits[byte & 15]};
		bool is_plain = byte > 0x20 && byte < 0x7f && byte != '\\';

		written += is_plain ? 1 : sizeof(escaped);
		if (written > limit) {
			leakwrap_write_text(writer, CUT_MARK);
			return;
		}
		append(writer, is_plain ? name : escaped, is_plain ? 1 : sizeof(escaped));
	}
}

void leakwrap_write_end(struct leakwrap_writer *writer)
{
	char *end;

	begin_line(writer);
	end = writer->buffer + writer->used + writer->line;
	if (writer->is_cut) {
		memcpy(end, CUT_MARK, sizeof(CUT_MARK)); /* the LF replaces the mark's NUL */
		end += strlen(CUT_MARK);
	}
	*end++ = '\n';
	writer->used = (size_t)(end - writer->buffer);
	writer->line = 0;
	writer->is_cut = false;
	writer->lines++;
}

bool leakwrap_writer_flush(struct leakwrap_writer *writer)
{
	write_lines(writer);
	return writer->error == 0;
}

#ifndef LEAKWRAP_BARE

/* Bytes of the buffer for many lines.  A larger buffer would hardly save time. */
#define MANY_LINES_ROOM ((size_t)128 << 10)

void leakwrap_writer_expect_many(struct leakwrap_writer *writer)
{
	char *mapped = writer->target.waits ? NULL : leakwrap_scratch_map(MANY_LINES_ROOM);

	if (mapped)
		set_buffer(writer, mapped, MANY_LINES_ROOM);
}

bool leakwrap_writer_finish(struct leakwrap_writer *writer)
{
	const bool written = leakwrap_writer_flush(writer);

	if (writer->buffer != writer->own) {
		leakwrap_scratch_unmap(writer->buffer, writer->room);
		set_buffer(writer, writer->own, sizeof(writer->own));
	}
	return written;
}

#endif

void leakwrap_message(const char *text, const char *const more[])
{
	struct leakwrap_writer writer;
	struct leakwrap_mask before;

	if (!leakwrap_output_stderr_is_usable())
		return;
	leakwrap_signals_block(&before);
	leakwrap_writer_start(&writer, 2, "leakwrap: ");
	leakwrap_write_text(&writer, text);
	for (; *more; more++)
		leakwrap_write_text(&writer, *more);
	leakwrap_write_end(&writer);
	leakwrap_writer_flush(&writer);
	leakwrap_signals_restore(&before);
}

void leakwrap_write_pair(struct leakwrap_writer *writer, const char *key, uint64_t value)
{
	leakwrap_write_text(writer, key);
	leakwrap_write_number(writer, value);
}

/* Writes the date DAYS after 1 January 1970, as YYYY-MM-DD of the proleptic Gregorian calendar.
 * Years are counted from March, so that the leap day is the last day of its year. */
static void write_date(struct leakwrap_writer *writer, int64_t days)
{
	int64_t since = days + 719468; /* from 1 March of year 0 to 1 January 1970 */
	int64_t era = since / 146097;  /* periods of 400 years */
	int64_t day = since % 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t month;

	day -= 365 * year + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	leakwrap_write_digits(writer, (uint64_t)(year + era * 400 + (month >= 10)), 4);
	leakwrap_write_text(writer, "-");
	leakwrap_write_digits(writer, (uint64_t)(month < 10 ? month + 3 : month - 9), 2);
	leakwrap_write_text(writer, "-");
	leakwrap_write_digits(writer, (uint64_t)(day + 1), 2);
}

void leakwrap_write_time(struct leakwrap_writer *writer, int64_t seconds)
{
	int64_t second_of_day = seconds % 86400;

	if (seconds < 0) /* a clock that was never set */
		seconds = second_of_day = 0;
	write_date(writer, seconds / 86400);
	leakwrap_write_text(writer, "T");
	leakwrap_write_digits(writer, (uint64_t)(second_of_day / 3600), 2);
	leakwrap_write_text(writer, ":");
	leakwrap_write_digits(writer, (uint64_t)(second_of_day / 60 % 60), 2);
	leakwrap_write_text(writer, ":");
	leakwrap_write_digits(writer, (uint64_t)(second_of_day % 60), 2);
	leakwrap_write_text(writer, "Z");
}
