/* messages.c - see messages.h. */
#include "tools/base/messages.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/base/text.h"

static bool progress_shown;
static _Thread_local FILE *complaints; /* NULL: standard error */

void send_complaints(FILE *stream)
{
	complaints = stream;
}

void progress_done(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* Writes START, the message and END to OUT, all at once.  Names from foreign files may be in the
 * message. */
static void put_message(FILE *out, const char *start, const char *format, va_list arguments,
                        const char *end)
{
	char *text = NULL, *line = NULL;
	size_t length;
	FILE *stream = open_memstream(&line, &length);

	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	if (stream) {
		fputs(start, stream);
		put_text(stream, text ? text : format);
		fputs(end, stream);
		fclose(stream);
		fputs(line, out);
	}
	free(line);
	free(text);
}

static void say(const char *format, va_list arguments)
{
	if (complaints) {
		put_message(complaints, "", format, arguments, "\n");
		return;
	}
	progress_done();
	fflush(stdout);
	put_message(stderr, "leakwrap: ", format, arguments, "\n");
}

void complain(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	complaints = NULL;
	say(format, arguments);
	va_end(arguments);
	exit(STATUS_USAGE);
}

void progress(const char *format, ...)
{
	static int terminal = -1;
	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || complaints)
		return;

	va_list arguments;
	va_start(arguments, format);
	put_message(stderr, "\r\033[K", format, arguments, "");
	va_end(arguments);
	fflush(stderr);
	progress_shown = true;
}
