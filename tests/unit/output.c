/* output.c - a write that is interrupted, that finds no room, or that takes a part goes on, and an
 * error ends it (report/output.c).  A log's path is expanded in its room, however long the pattern
 * is (report/log_file.c).
 * sources: report/output.c report/log_file.c report/line_writer.c wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_call_kernel */
#include "report/log_file.h"
#include "report/output.h"
#include "wrap/base/options.h"
#include "wrap/port/port.h"
#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct leakwrap_options leakwrap_options = {.log = "stderr"};

long __real_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);

/* What the next writes return, up to 0. */
static const long *results = (const long[]){0};

long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	if (number != SYS_write || *results == 0)
		return __real_leakwrap_call_kernel(number, a, b, c, d, e, f);
	if (*results > 0)
		return __real_leakwrap_call_kernel(number, a, b, *results++, d, e, f);
	return *results++;
}

/* Writes a text to a pipe while the writes return RESULTS_FIRST.  Returns the error.  Checks that
 * the text has arrived if there is none. */
static int write_text(const long *results_first)
{
	static const char text[] = "twelve bytes";
	char got[sizeof(text)] = "";
	struct leakwrap_output target;
	int end[2], error;

	CHECK(pipe(end) == 0);
	results = results_first;
	leakwrap_output_begin(&target, end[1]);
	error = leakwrap_output_write(&target, text, strlen(text));
	CHECK(close(end[1]) == 0);
	CHECK(error != 0 ||
	      (read(end[0], got, sizeof(got)) == (ssize_t)strlen(text) && strcmp(got, text) == 0));
	CHECK(close(end[0]) == 0);
	return error;
}

static void check_writes(void)
{
	CHECK(write_text((const long[]){0}) == 0);
	CHECK(write_text((const long[]){-EINTR, -EAGAIN, 3, -EAGAIN, -EINTR, 4, 0}) == 0);
	CHECK(write_text((const long[]){5, -ENOSPC, 0}) == ENOSPC);
}

/* The path is as long as its room, or some bytes longer or shorter: the program's name comes often
 * in it. */
static void check_paths(void)
{
	const size_t names = 40;
	char *const log = leakwrap_options.log;
	unsigned opened = 0, refused = 0;

	leakwrap_log_start();
	for (size_t size = sizeof(leakwrap_options.log) - 1; size > 2 * names; size--) {
		memset(log, '/', size);
		for (size_t i = 0; i < names; i++)
			memcpy(log + size - 2 * (i + 1), "%e", 2);
		log[size] = '\0';
		CHECK(leakwrap_log_open(1) < 0);
		/* The pattern itself is given in the place of a path that is too long. */
		opened += leakwrap_log_path() != log;
		refused += leakwrap_log_path() == log;
	}
	CHECK(opened > 0 && refused > 0);
}

int main(void)
{
	check_writes();
	check_paths();
	return 0;
}
