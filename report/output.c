/* output.c - see output.h. */
#include "report/output.h"

#include "wrap/base/options.h"
#include "wrap/port/port.h"
#include "report/line_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>

/* A reader that does not read may hold up the program for this time, for each write. */
#define WRITE_LIMIT_NS 10000000000u

static struct {
	struct leakwrap_file stderr_file; /* the file of descriptor 2 at start */
	bool stderr_was_open;
	char program[64]; /* the program's name, for %e */
} output;

static bool is_stderr(const char *log)
{
	return strcmp(log, "stderr") == 0;
}

void leakwrap_output_start(void)
{
	output.stderr_was_open = leakwrap_file_of(2, &output.stderr_file);
	leakwrap_process_name(output.program, sizeof(output.program));
}

bool leakwrap_output_stderr_is_usable(void)
{
	struct leakwrap_file now;

	if (!leakwrap_file_of(2, &now))
		return false;
	if (output.stderr_was_open && now.device == output.stderr_file.device &&
	    now.inode == output.stderr_file.inode)
		return true;
	return now.is_terminal || now.is_pipe || now.is_append;
}

/* Stores PATTERN in the SIZE bytes at PATH, and replaces %p, %n, %e and %% in it.  NUMBER: the
 * dump's.  Returns false if the path is too long. */
static bool expand_path(char *path, size_t size, const char *pattern, unsigned number)
{
	char digits[24];
	size_t used = 0;

	for (; *pattern != '\0'; pattern++) {
		const char literal[] = {*pattern, '\0'};
		const char *piece = literal;
		size_t length;

		if (*pattern == '%' && pattern[1] != '\0' && strchr("pne%", pattern[1])) {
			pattern++;
			if (*pattern == 'p')
				piece = leakwrap_decimal(digits, sizeof(digits),
				                         (uint64_t)leakwrap_process_id());
			else if (*pattern == 'n')
				piece = leakwrap_decimal(digits, sizeof(digits), number);
			else if (*pattern == 'e')
				piece = output.program;
		}
		length = strlen(piece);
		if (length >= size - used)
			return false;
		memcpy(path + used, piece, length);
		used += length;
	}
	path[used] = '\0';
	return true;
}

void leakwrap_output_pattern(char *pattern, size_t size)
{
	const char *log = leakwrap_options.log, *name = "";
	size_t used = 0;

	while (*log != '\0' || *name != '\0') {
		const bool in_name = *name != '\0',
		           is_escape = !in_name && *log == '%' && log[1] != '\0';

		if (is_escape && log[1] == 'e') {
			name = output.program;
			log += 2;
			continue;
		}
		if (used + 3 > size) {
			used = 0;
			break;
		}
		pattern[used++] = in_name ? *name : *log;
		if (in_name && *name == '%')
			pattern[used++] = '%';
		else if (is_escape)
			pattern[used++] = *++log;
		*(in_name ? &name : &log) += 1;
	}
	pattern[used] = '\0';
}

/* Moves FD to a number above 2, and returns it: descriptors 0 to 2 mean something to the program,
 * even while they are closed.  Returns a negative errno value, and closes FD, if that fails. */
static int move_above_stderr(int fd)
{
	int moved;

	if (fd > 2)
		return fd;
	moved = (int)leakwrap_fcntl(fd, F_DUPFD_CLOEXEC, 3);
	leakwrap_close(fd);
	return moved;
}

int leakwrap_output_open(unsigned number)
{
	static char path[LEAKWRAP_LOG_MAX + 128]; /* static: one dump is written at a time */
	int fd;

	if (is_stderr(leakwrap_options.log))
		return leakwrap_output_stderr_is_usable() ? 2 : -EBADF;
	if (!expand_path(path, sizeof(path), leakwrap_options.log, number))
		return -ENAMETOOLONG;
	fd = (int)leakwrap_open(path,
	                        O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW |
	                                O_NONBLOCK,
	                        0600);
	return fd < 0 ? fd : move_above_stderr(fd);
}

void leakwrap_output_close(int fd)
{
	if (!is_stderr(leakwrap_options.log))
		leakwrap_close(fd);
}

/* Signals that a write can raise. */
static const int write_signals[] = {SIGPIPE, SIGXFSZ};

/* This work is not part of each write: a dump of many call sites makes thousands of writes. */
void leakwrap_output_begin(struct leakwrap_target *target, int fd)
{
	struct leakwrap_file file;

	target->fd = fd;
	target->waits = !leakwrap_file_of(fd, &file) || !file.is_regular;
	for (unsigned i = 0; i < 2; i++)
		target->was_pending[i] = leakwrap_signal_pending(write_signals[i]);
}

/* Writes the SIZE bytes at BYTES.  Returns false if not all bytes could be written.
 *
 * Before each write to a pipe, a terminal or a socket it waits until TARGET takes bytes, with a
 * time limit.  A write without that may block.  Signals are blocked: nobody could even end the
 * program while its reader does not read.  A pipe that is ready takes a page without blocking
 * (pipe(7)). */
static bool write_all(const struct leakwrap_target *target, const char *bytes, size_t size)
{
	while (size > 0) {
		long written;

		if (target->waits && !leakwrap_wait_writable(target->fd, WRITE_LIMIT_NS))
			return false;
		written = leakwrap_write(target->fd, bytes, size);
		if (written == -EINTR || written == -EAGAIN)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

bool leakwrap_output_write(const struct leakwrap_target *target, const char *bytes, size_t size)
{
	bool written = write_all(target, bytes, size);

	for (unsigned i = 0; i < 2 && !written; i++)
		if (!target->was_pending[i] && leakwrap_signal_pending(write_signals[i]))
			leakwrap_signal_discard(write_signals[i]);
	return written;
}
