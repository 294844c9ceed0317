/* unit_text.c - lines of text (report/text.c) against what printf makes of the same, and against the promises of the
 * format: no line is longer than allowed, none is torn, no name can be taken for something else.
 * sources: report/text.c report/output.c wrap/port_linux.c */
#include "options.h"
#include "port.h"
#include "text.h"
#include "unit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct leakwrap_options leakwrap_options = {.log = "stderr"};

static struct leakwrap_writer writer;
static char got[1 << 20];
static FILE *file;

static void begin(const char *prefix)
{
	rewind(file);
	CHECK(ftruncate(fileno(file), 0) == 0);
	leakwrap_text_start(&writer, fileno(file), prefix);
}

/* Everything that was written since. */
static size_t finish(void)
{
	ssize_t size;

	CHECK(leakwrap_text_flush(&writer));
	size = pread(fileno(file), got, sizeof(got) - 1, 0);
	CHECK(size >= 0);
	got[size] = '\0';
	return (size_t)size;
}

static void numbers(void)
{
	static const uint64_t edges[] = {0, 1, 9, 10, 99, 100, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX};
	uint64_t seed = 1;

	for (unsigned i = 0; i < 2000; i++) {
		uint64_t number =
		        i < sizeof(edges) / sizeof(edges[0]) ? edges[i] : unit_random(&seed) >> i % 64;
		uint64_t small = number % 100000000;
		unsigned char bytes[] = {(unsigned char)number, 0, 255};
		char wanted[200], digits[24];

		begin("> ");
		leakwrap_text_number(&writer, number);
		leakwrap_text(&writer, " ");
		leakwrap_text_hex(&writer, (uintptr_t)number);
		leakwrap_text(&writer, " ");
		leakwrap_text_digits(&writer, small, 8);
		leakwrap_text(&writer, " ");
		leakwrap_text_bytes_hex(&writer, bytes, sizeof(bytes));
		leakwrap_text_end(&writer);
		snprintf(wanted, sizeof(wanted),
		         "> %" PRIu64 " 0x%" PRIxPTR " %08" PRIu64 " %02x00ff\n", number,
		         (uintptr_t)number, small, bytes[0]);
		finish();
		CHECK(strcmp(got, wanted) == 0);
		snprintf(wanted, sizeof(wanted), "%" PRIu64, number);
		CHECK(strcmp(leakwrap_decimal(digits, sizeof(digits), number), wanted) == 0);
	}
}

/* NAME comes back from its escapes, or its beginning does. */
static void check_name(const char *name, size_t limit, const char *line)
{
	size_t length = strlen(line);
	bool is_cut = length >= 4 && strcmp(line + length - 4, "\\...") == 0;

	CHECK(length <= limit + 4); /* the mark of the cut comes behind */
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
		size_t length = (size_t)(unit_random(&seed) % (i % 10 ? 40 : 3000));
		size_t limit = 4 + (size_t)(unit_random(&seed) % (i % 2 ? 60 : 3000));
		char name[3001];

		for (size_t at = 0; at < length; at++) {
			unsigned random = (unsigned)unit_random(&seed);

			name[at] = (char)(random % 4 ? 0x21 + random / 4 % 94 : random / 4 % 255 + 1);
		}
		name[length] = '\0';
		begin("");
		leakwrap_text_name(&writer, name, limit);
		leakwrap_text_end(&writer);
		length = finish();
		CHECK(length > 0 && got[length - 1] == '\n');
		got[length - 1] = '\0';
		check_name(name, limit, got);
	}
}

/* Lines of any length: whole, with their prefix, and never too long. */
static void lines(void)
{
	static char text[6000];
	uint64_t seed = 3;

	for (unsigned round = 0; round < 50; round++) {
		unsigned count = (unsigned)(unit_random(&seed) % 60);
		size_t size, seen = 0;

		begin("leakwrap[1.1] ");
		for (unsigned i = 0; i < count; i++) {
			size_t length = (size_t)(unit_random(&seed) % (i % 5 ? 100 : sizeof(text)));

			memset(text, 'a' + (int)(i % 26), length);
			text[length] = '\0';
			leakwrap_text(&writer, text);
			leakwrap_text_end(&writer);
		}
		size = finish();
		CHECK(writer.lines == count);
		for (char *line = got; line < got + size; seen++) {
			char *end = memchr(line, '\n', (size_t)(got + size - line));

			CHECK(end && end - line < LEAKWRAP_LINE_MAX);
			CHECK(strncmp(line, "leakwrap[1.1] ", 14) == 0);
			for (char *at = line + 14; at < end && *at != '\\'; at++)
				CHECK(*at == 'a' + (int)(seen % 26));
			line = end + 1;
		}
		CHECK(seen == count);
	}
}

static void failing(void)
{
	struct leakwrap_mask before;
	int pipe_ends[2];

	leakwrap_signals_block(&before);
	CHECK(pipe(pipe_ends) == 0);
	close(pipe_ends[0]);
	leakwrap_text_start(&writer, pipe_ends[1], "> "); /* without SIGPIPE */
	leakwrap_text(&writer, "text");
	leakwrap_text_end(&writer);
	CHECK(!leakwrap_text_flush(&writer));
	CHECK(!leakwrap_text_flush(&writer));
	close(pipe_ends[1]);
	leakwrap_text_start(&writer, -1, "> ");
	leakwrap_text_end(&writer);
	CHECK(!leakwrap_text_flush(&writer));
	leakwrap_signals_restore(&before);
}

int main(void)
{
	file = tmpfile();
	CHECK(file);
	numbers();
	names();
	lines();
	failing();
	fclose(file);
	return 0;
}
