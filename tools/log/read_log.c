/* read_log.c - see read_log.h. */
#include "tools/log/read_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/format.h"
#include "tools/log/parse.h"
#include "tools/util.h"

enum { READ_SIZE = 256 * 1024 };

bool parse_log(int fd, const char *log, dump_taker *take, void *context)
{
	struct parser *parser = parser_start(log, take, context);
	char *buffer = xmalloc(READ_SIZE);
	size_t filled = 0;
	ssize_t got;

	while ((got = read(fd, buffer + filled, READ_SIZE - filled)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
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
	int error = errno;
	if (got == 0 && filled)
		parser_line(parser, buffer, filled, false);
	parser_end(parser);
	free(buffer);
	errno = error;
	return got == 0;
}
