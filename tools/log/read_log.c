/* read_log.c - see read_log.h. */
#include "tools/log/read_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/format.h"
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/log/log_file.h"
#include "tools/log/parse.h"

enum { READ_SIZE = 256 * 1024 };

/* Reads FD to its end, and does the rest of what parse_file does. */
static const char *parse_log(int fd, const char *log, dump_taker *take, void *context)
{
	struct parser *parser = parser_start(log, take, context);
	struct log_file *file = log_file_start(fd);
	char *buffer = xmalloc(READ_SIZE);
	size_t filled = 0;
	ssize_t got;

	while ((got = log_file_read(file, buffer + filled, READ_SIZE - filled)) > 0) {
		filled += (size_t)got;
		char *line = buffer, *end = buffer + filled, *newline;
		for (; (newline = memchr(line, '\n', (size_t)(end - line))) != NULL;
		     line = newline + 1)
			parser_line(parser, line, (size_t)(newline - line), true);
		filled = (size_t)(end - line);
		/* No line of a dump is this long.  The dump of another process may begin in the
		 * line of another program, so its last bytes are kept. */
		if (filled == READ_SIZE) {
			line = end - LEAKWRAP_LINE_MAX;
			filled = LEAKWRAP_LINE_MAX;
		}
		memmove(buffer, line, filled);
	}
	if (filled)
		parser_line(parser, buffer, filled, false);
	parser_end(parser);
	const char *error = log_file_error(file);
	log_file_end(file);
	free(buffer);
	return error;
}

static bool is_standard_input(const char *path)
{
	return strcmp(path, "-") == 0;
}

const char *log_name(const char *path)
{
	return is_standard_input(path) ? "standard input" : *path ? path : "a file without a name";
}

const char *parse_file(const char *path, const char *log, dump_taker *take, void *context)
{
	const int fd = is_standard_input(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return strerror(errno);
	remember_input(fd);
	const char *error = parse_log(fd, log, take, context);
	if (fd != STDIN_FILENO)
		close(fd);
	return error;
}

void parse_text(const char *text, size_t size, dump_taker *take, void *context)
{
	struct parser *parser = parser_start("dump", take, context);
	const char *end = text + size, *newline;
	for (; (newline = memchr(text, '\n', (size_t)(end - text))) != NULL; text = newline + 1)
		parser_line(parser, text, (size_t)(newline - text), true);
	parser_end(parser);
}
