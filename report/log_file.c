/* log_file.c - see log_file.h. */
#include "report/log_file.h"

#include "report/line_writer.h"
#include "report/output.h"
#include "wrap/base/options.h"
#include "wrap/port/port.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static char program[64]; /* the program's name, for %e */
static char host[65];    /* the host's name, for %h */

/* The path of the log at the last leakwrap_log_open; "" if it was too long, or is no file.  Static:
 * one dump is written at a time. */
static char log_path[LEAKWRAP_LOG_MAX + 128];

/* The log has come to log_max=, and cannot be renamed. */
static bool is_outgrown;

static bool is_stderr(const char *log)
{
	return strcmp(log, "stderr") == 0;
}

void leakwrap_log_start(void)
{
	leakwrap_process_name(program, sizeof(program));
	leakwrap_host_name(host, sizeof(host));
}

const char *leakwrap_log_path(void)
{
	return log_path[0] != '\0' ? log_path : leakwrap_options.log;
}

bool leakwrap_log_is_outgrown(void)
{
	return is_outgrown;
}

/* Stores PATTERN in the SIZE bytes at PATH, and replaces %p, %n, %e, %h and %% in it.  NUMBER: the
 * dump's.  Returns false if the path is too long. */
static bool expand_path(char *path, size_t size, const char *pattern, unsigned number)
{
	char digits[24];
	size_t used = 0;

	for (; *pattern != '\0'; pattern++) {
		const char literal[] = {*pattern, '\0'};
		const char *piece = literal;
		size_t length;

		if (*pattern == '%' && pattern[1] != '\0' && strchr("pneh%", pattern[1])) {
			pattern++;
			if (*pattern == 'p')
				piece = leakwrap_decimal(digits, sizeof(digits),
				                         (uint64_t)leakwrap_process_id());
			else if (*pattern == 'n')
				piece = leakwrap_decimal(digits, sizeof(digits), number);
			else if (*pattern == 'e')
				piece = program;
			else if (*pattern == 'h')
				piece = host;
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

void leakwrap_log_pattern(char *pattern, size_t size)
{
	const char *log = leakwrap_options.log, *name = "";
	size_t used = 0;

	while (*log != '\0' || *name != '\0') {
		const bool in_name = *name != '\0',
		           is_escape = !in_name && *log == '%' && log[1] != '\0';

		if (is_escape && (log[1] == 'e' || log[1] == 'h')) {
			name = log[1] == 'e' ? program : host;
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

/* Opens the log at PATH.  Returns a descriptor above 2, or a negative errno value: descriptors 0 to
 * 2 mean something to the program, even while they are closed.  If the system gives one of them, it
 * stays open until there is another.  fcntl(2) would give another at once, but filters of system
 * calls may allow just some of its commands. */
static int open_log(const char *path)
{
	int low[3], fd;
	unsigned count = 0;

	while ((fd = (int)leakwrap_open(path,
	                                O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY |
	                                        O_NOFOLLOW | O_NONBLOCK,
	                                0600)) >= 0 &&
	       fd <= 2 && count < 3)
		low[count++] = fd;
	while (count > 0)
		leakwrap_close(low[--count]);
	return fd;
}

/* Returns whether the log FD is a regular file that has come to the size of the option log_max=. */
static bool is_full(int fd)
{
	struct leakwrap_file file;

	return leakwrap_options.log_max > 0 && leakwrap_file_size(fd) >= leakwrap_options.log_max &&
	       leakwrap_file_describe(fd, &file) && file.is_regular;
}

/* Renames the log PATH, which FD is open on, to PATH.1.  Processes that share the log may do so at
 * once: the first one locks the file, and for the others PATH is another file then. */
static void rename_log(const char *path, int fd)
{
	static char renamed[LEAKWRAP_LOG_MAX + 130];
	struct leakwrap_file opened, present;
	const int again = leakwrap_lock_file(fd) ? open_log(path) : -1;

	if (again < 0)
		return;
	if (leakwrap_file_describe(fd, &opened) && leakwrap_file_describe(again, &present) &&
	    opened.inode == present.inode && opened.device == present.device) {
		strcpy(renamed, path);
		strcat(renamed, ".1");
		is_outgrown = leakwrap_rename(path, renamed) != 0;
	}
	leakwrap_close(again);
}

int leakwrap_log_open(unsigned number)
{
	int fd;

	log_path[0] = '\0';
	if (is_stderr(leakwrap_options.log))
		return leakwrap_output_stderr_is_usable() ? 2 : -EBADF;
	if (!expand_path(log_path, sizeof(log_path), leakwrap_options.log, number)) {
		log_path[0] = '\0';
		return -ENAMETOOLONG;
	}
	is_outgrown = false;
	fd = open_log(log_path);
	if (fd >= 0 && is_full(fd)) {
		rename_log(log_path, fd);
		leakwrap_close(fd);
		fd = open_log(log_path);
	}
	return fd;
}

void leakwrap_log_close(int fd)
{
	if (!is_stderr(leakwrap_options.log))
		leakwrap_close(fd);
}
