/* output.c - see output.h. */
#include "report/output.h"

#include "wrap/port/port.h"

#include <errno.h>
#include <signal.h>

/* A reader that does not read may hold up the program for this time, for each write. */
#define WRITE_LIMIT_NS 10000000000u

static struct leakwrap_file stderr_file; /* the file of descriptor 2 at start */
static bool stderr_was_open;

void leakwrap_output_start(void)
{
	stderr_was_open = leakwrap_file_describe(2, &stderr_file);
}

bool leakwrap_output_stderr_is_usable(void)
{
	struct leakwrap_file now;

	if (!leakwrap_file_describe(2, &now))
		return false;
	if (stderr_was_open && now.device == stderr_file.device && now.inode == stderr_file.inode)
		return true;
	return now.is_terminal || now.is_pipe || now.is_append;
}

/* Signals that a write can raise. */
static const int write_signals[] = {SIGPIPE, SIGXFSZ};

/* This work is not part of each write: a dump of many call sites makes thousands of writes. */
void leakwrap_output_begin(struct leakwrap_output *target, int fd)
{
	struct leakwrap_file file;

	target->fd = fd;
	target->waits = !leakwrap_file_describe(fd, &file) || !file.is_regular;
	for (unsigned i = 0; i < 2; i++)
		target->was_pending[i] = leakwrap_signal_pending(write_signals[i]);
}

/* Writes the SIZE bytes at BYTES.  Returns as leakwrap_output_write does.
 *
 * Before each write to a pipe, a terminal or a socket it waits until TARGET takes bytes, with a
 * time limit.  A write without that may block.  Signals are blocked: nobody could even end the
 * program while its reader does not read.  A pipe that is ready takes a page without blocking
 * (pipe(7)). */
static int write_all(const struct leakwrap_output *target, const char *bytes, size_t size)
{
	while (size > 0) {
		long written;

		if (target->waits && !leakwrap_wait_writable(target->fd, WRITE_LIMIT_NS))
			return ETIMEDOUT;
		written = leakwrap_write(target->fd, bytes, size);
		if (written == -EINTR || written == -EAGAIN)
			continue;
		if (written <= 0)
			return written < 0 ? (int)-written : EIO;
		bytes += written;
		size -= (size_t)written;
	}
	return 0;
}

int leakwrap_output_write(const struct leakwrap_output *target, const char *bytes, size_t size)
{
	const int error = write_all(target, bytes, size);

	for (unsigned i = 0; i < 2 && error != 0; i++)
		if (!target->was_pending[i] && leakwrap_signal_pending(write_signals[i]))
			leakwrap_signal_discard(write_signals[i], NULL);
	return error;
}
