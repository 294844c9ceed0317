/* line_writer.c - compares lines of text (report/line_writer.c) with printf's output, and checks
 * the promises of the format: no line is too long, none is torn, and no name can be mistaken.
 * sources: report/line_writer.c report/output.c wrap/port/linux*.c */
#include "report/format.h"
#include "wrap/base/options.h"
#include "wrap/port/port.h"
#include "report/line_writer.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct leakwrap_options leakwrap_options = {.log = "stderr"};

#define PREFIX "leakwrap[1.1] "

static struct leakwrap_writer writer;
static char got[1 << 20];
static FILE *file;

static void begin(const char *prefix)
{
	rewind(file);
	CHECK(ftruncate(fileno(file), 0) == 0);
	leakwrap_writer_start(&writer, fileno(file), prefix);
}

/* Returns how many bytes were written since begin. */
static size_t finish(void)
{
	ssize_t size;

	CHECK(leakwrap_writer_finish(&writer));
	size = pread(fileno(file), got, sizeof(got) - 1, 0);
	CHECK(size >= 0);
	got[size] = '\0';
	return (size_t)size;
}

static void numbers(void)
{
	static const uint64_t edges[] = {0,         1, 9, 10, 99, 100, UINT32_MAX, UINT64_MAX - 1,
	                                 UINT64_MAX};
	uint64_t seed = 1;

	for (unsigned i = 0; i < 2000; i++) {
		uint64_t number = i < sizeof(edges) / sizeof(edges[0])
		                          ? edges[i]
		                          : draw_random(&seed) >> i % 64;
		uint64_t small = number % 100000000;
		unsigned char bytes[] = {(unsigned char)number, 0, 255};
		char wanted[200], digits[24];

		begin("> ");
		leakwrap_write_number(&writer, number);
		leakwrap_write_text(&writer, " ");
		leakwrap_write_hex(&writer, (uintptr_t)number);
		leakwrap_write_text(&writer, " ");
		leakwrap_write_digits(&writer, small, 8);
		leakwrap_write_text(&writer, " ");
		leakwrap_write_bytes_hex(&writer, bytes, sizeof(bytes));
		leakwrap_write_end(&writer);
		snprintf(wanted, sizeof(wanted),
		         "> %" PRIu64 " 0x%" PRIxPTR " %08" PRIu64 " %02x00ff\n", number,
		         (uintptr_t)number, small, bytes[0]);
		finish();
		CHECK(strcmp(got, wanted) == 0);
		snprintf(wanted, sizeof(wanted), "%" PRIu64, number);
		CHECK(strcmp(leakwrap_decimal(digits, sizeof(digits), number), wanted) == 0);
	}
}

/* Checks that the escapes in LINE give NAME again, or its beginning. */
static void check_name(const char *name, size_t limit, const char *line)
{
	size_t length = strlen(line);
	bool is_cut = length >= 4 && strcmp(line + length - 4, "\\...") == 0;

	CHECK(length <= limit + 4); /* the mark of the cut follows */
	for (const char *end = line + length - (is_cut ? 4 : 0); line < end; name++) {
		unsigned byte = (unsigned char)*line;

		CHECK(byte >= 0x21 && byte <= 0x7e);
		if (byte == '\\') {
			CHECK(sscanf(line, "\\x%2x", &byte) == 1);
			line += 4;
		} else {
			line++;
		}
		CHECK(byte == (unsigned char)*name);
	}
	CHECK(is_cut || *name == '\0');
}

static void names(void)
{
	uint64_t seed = 2;

	for (unsigned i = 0; i < 3000; i++) {
		size_t length = (size_t)(draw_random(&seed) % (i % 10 ? 40 : 3000));
		size_t limit = 4 + (size_t)(draw_random(&seed) % (i % 2 ? 60 : 3000));
		char name[3001];

		for (size_t at = 0; at < length; at++) {
			unsigned random = (unsigned)draw_random(&seed);

			name[at] =
			        (char)(random % 4 ? 0x21 + random / 4 % 94 : random / 4 % 255 + 1);
		}
		name[length] = '\0';
		begin("");
		leakwrap_write_name(&writer, name, limit);
		leakwrap_write_end(&writer);
		length = finish();
		CHECK(length > 0 && got[length - 1] == '\n');
		got[length - 1] = '\0';
		check_name(name, limit, got);
	}
}

/* Writes a line of the LENGTH bytes TEXT in one piece, with bytes behind it that must not appear.
 * Returns false if there is no room. */
static bool write_whole(const char *text, size_t length)
{
	const size_t prefix = sizeof(PREFIX) - 1, size = prefix + length + 1, spare = 100;
	char *line = leakwrap_writer_add_line(&writer, size, spare);

	if (!line) {
		CHECK(writer.used + size + spare > LEAKWRAP_LINE_MAX);
		return false;
	}
	memset(line, '!', size + spare);
	memcpy(line, PREFIX, prefix);
	memcpy(line + prefix, text, length);
	line[size - 1] = '\n';
	return true;
}

/* Writes the lines from FIRST to END - 1, of any length, in one piece or in several. */
static void write_lines(unsigned first, unsigned end, uint64_t *seed)
{
	static char text[6000];

	for (unsigned i = first; i < end; i++) {
		size_t length = (size_t)(draw_random(seed) % (i % 5 ? 100 : sizeof(text)));

		memset(text, 'a' + (int)(i % 26), length);
		text[length] = '\0';
		if (i % 3 == 0 && length < 200 && write_whole(text, length))
			continue;
		leakwrap_write_text(&writer, text);
		leakwrap_write_end(&writer);
	}
}

/* Checks that GOT has whole lines, which write_lines has written from FIRST on. Returns how
 * many. */
static unsigned check_lines(size_t size, unsigned first)
{
	unsigned seen = first;

	for (char *line = got; line < got + size; seen++) {
		char *end = memchr(line, '\n', (size_t)(got + size - line));

		CHECK(end && end - line < LEAKWRAP_LINE_MAX);
		CHECK(strncmp(line, PREFIX, strlen(PREFIX)) == 0);
		for (char *at = line + strlen(PREFIX); at < end && *at != '\\'; at++)
			CHECK(*at == 'a' + (int)(seen % 26));
		line = end + 1;
	}
	return seen - first;
}

/* Writes lines of any length. They are whole, have their prefix, and are never too long. */
static void lines(void)
{
	uint64_t seed = 3;

	for (unsigned round = 0; round < 50; round++) {
		unsigned count = (unsigned)(draw_random(&seed) % 60);

		begin(PREFIX);
		write_lines(0, count, &seed);
		CHECK(check_lines(finish(), 0) == count);
		CHECK(writer.lines == count);
	}
}

/* Writes to a file, which takes many lines at once. */
static void many_to_a_file(void)
{
	uint64_t seed = 4;

	begin(PREFIX);
	leakwrap_writer_expect_many(&writer);
	write_lines(0, 60, &seed);
	CHECK(lseek(fileno(file), 0, SEEK_CUR) == 0);
	write_lines(60, 1060, &seed);
	CHECK(lseek(fileno(file), 0, SEEK_CUR) > 0);
	CHECK(check_lines(finish(), 0) == 1060);
	CHECK(writer.lines == 1060);
}

/* Writes to a pipe that keeps writes apart (O_DIRECT in pipe(2)). Each write has whole lines, and
 * at most PIPE_BUF bytes. */
static void many_to_a_pipe(void)
{
	struct leakwrap_mask before;
	uint64_t seed = 5;
	unsigned seen = 0;
	int pipe_ends[2];
	ssize_t size;

	leakwrap_signals_block(&before);
	CHECK(pipe2(pipe_ends, O_DIRECT | O_NONBLOCK) == 0);
	leakwrap_writer_start(&writer, pipe_ends[1], PREFIX);
	leakwrap_writer_expect_many(&writer);
	write_lines(0, 26, &seed);
	CHECK(leakwrap_writer_finish(&writer));
	while ((size = read(pipe_ends[0], got, sizeof(got))) > 0) {
		CHECK(size <= PIPE_BUF);
		seen += check_lines((size_t)size, seen);
	}
	CHECK(seen == 26);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	leakwrap_signals_restore(&before);
}

static void failing(void)
{
	struct leakwrap_mask before;
	int pipe_ends[2];

	leakwrap_signals_block(&before);
	CHECK(pipe(pipe_ends) == 0);
	close(pipe_ends[0]);
	leakwrap_writer_start(&writer, pipe_ends[1], "> "); /* without SIGPIPE */
	leakwrap_write_text(&writer, "text");
	leakwrap_write_end(&writer);
	CHECK(!leakwrap_writer_flush(&writer));
	CHECK(!leakwrap_writer_flush(&writer));
	CHECK(writer.error == EPIPE);
	close(pipe_ends[1]);
	leakwrap_writer_start(&writer, pipe_ends[1], "> ");
	leakwrap_write_end(&writer);
	CHECK(!leakwrap_writer_flush(&writer));
	leakwrap_signals_restore(&before);
}

int main(void)
{
	file = tmpfile();
	CHECK(file);
	numbers();
	names();
	lines();
	many_to_a_file();
	many_to_a_pipe();
	failing();
	fclose(file);
	return 0;
}
