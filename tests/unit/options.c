/* options.c - reads LEAKWRAP_OPTIONS (wrap/runtime/option_table.c) with good and bad values, and
 * with any text.
 * sources: wrap/runtime/option_table.c wrap/base/options.c report/line_writer.c report/output.c
 * sources: wrap/runtime/log_path.c
 * sources: wrap/port/linux*.c wrap/fail/parse_rule.c */
#include "wrap/base/options.h"
#include "wrap/runtime/option_table.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

const char *leakwrap_default_options(void);

static const char *defaults;

const char *leakwrap_default_options(void)
{
	return defaults;
}

static const struct leakwrap_options *read_options(const char *text)
{
	if (text)
		setenv("LEAKWRAP_OPTIONS", text, 1);
	else
		unsetenv("LEAKWRAP_OPTIONS");
	leakwrap_options_read();
	return &leakwrap_options;
}

static void good_values(void)
{
	char here[4096];

	CHECK(read_options(NULL)->signal == SIGUSR1 && leakwrap_options.exit &&
	      leakwrap_options.depth == 64);
	CHECK(strcmp(leakwrap_options.log, "stderr") == 0 && leakwrap_options.memory == 0 &&
	      !leakwrap_options.crash);
	CHECK(read_options("signal=RTMIN+3")->signal == SIGRTMIN + 3);
	CHECK(read_options("signal=SIGUSR2")->signal == SIGUSR2);
	CHECK(read_options("signal=none")->signal == 0);
	CHECK(read_options("signal=12")->signal == 12);
	CHECK(read_options("depth=256")->depth == 256);
	CHECK(read_options("memory=3M")->memory == (size_t)3 << 20);
	CHECK(read_options("memory=16k")->memory == (size_t)16 << 10);
	CHECK(read_options("top=7:min_bytes=1G:exit=0")->top == 7 &&
	      leakwrap_options.min_bytes == (size_t)1 << 30);
	CHECK(!leakwrap_options.exit);
	CHECK(read_options("unwind=fp")->unwind == LEAKWRAP_UNWIND_FP);
	CHECK(read_options("misuse=report")->misuse == LEAKWRAP_ON_MISUSE_REPORT);
	CHECK(read_options("misuse=abort")->misuse == LEAKWRAP_ON_MISUSE_ABORT);
	CHECK(strcmp(read_options("log=\"/tmp/a:b\":depth=3")->log, "/tmp/a:b") == 0 &&
	      leakwrap_options.depth == 3);
	CHECK(strcmp(read_options("log='/tmp/c:d'")->log, "/tmp/c:d") == 0);
	CHECK(strcmp(read_options("::log=/x/%p.%n::")->log, "/x/%p.%n") == 0);
	CHECK(getcwd(here, sizeof(here)) && strlen(here) < LEAKWRAP_LOG_MAX - 10);
	strcat(here, "/name");
	CHECK(strcmp(read_options("log=name")->log, here) == 0);
	defaults = "depth=5:top=2";
	CHECK(read_options("depth=6")->depth == 6 && leakwrap_options.top == 2);
	defaults = NULL;
}

/* An option with a bad value is ignored. */
static void bad_values(void)
{
	static const char *const bad[] = {
	        "depth=0",
	        "depth=257",
	        "depth=",
	        "depth",
	        "depth=-1",
	        "depth=9999999999999999999999",
	        "memory=99999999999999999999G",
	        "memory=17179869185G",
	        "memory=K",
	        "memory=1T",
	        "signal=KILL",
	        "signal=0",
	        "signal=9",
	        "signal=11",
	        "signal=RTMIN+",
	        "signal=RTMIN+99",
	        "signal=65",
	        "signal=",
	        "exit=2",
	        "exit=",
	        "log=",
	        "unwind=x",
	        "misuse=1",
	        "crash=yes",
	        "unknown=1",
	        "=",
	        "==:=",
	        "log=\"\"",
	        "log=\"/tmp/a",
	        "log='/tmp/a\"",
	        "log=\"/tmp/a\"b",
	        "log=\"/tmp/a:b\"c:",
	        "depth=\"3\" ",
	        "help=2",
	};
	struct leakwrap_options wanted = *read_options(NULL);

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct leakwrap_options *now = read_options(bad[i]);

		CHECK(strcmp(now->log, wanted.log) == 0 && now->signal == wanted.signal &&
		      now->exit == wanted.exit);
		CHECK(now->depth == wanted.depth && now->memory == wanted.memory &&
		      now->unwind == wanted.unwind);
		CHECK(now->misuse == wanted.misuse && now->crash == wanted.crash);
	}
}

/* Whatever the text is, the options are usable. */
static void any_text(void)
{
	static const char *const pieces[] = {"log", "signal", "depth", "memory", "=",      ":",
	                                     "\"",  "'",      "SIG",   "RTMIN",  "+",      "USR1",
	                                     "18",  "K",      "%",     "/",      "stderr", "none"};
	uint64_t seed = 1;
	char text[3000];

	for (unsigned i = 0; i < 20000; i++) {
		unsigned count = (unsigned)(draw_random(&seed) % 12);

		text[0] = '\0';
		while (count-- > 0) {
			unsigned random = (unsigned)draw_random(&seed);
			size_t used = strlen(text);

			if (random % 8 == 0 && used < 1500) {
				memset(text + used, 'x', random / 8 % 1200);
				text[used + random / 8 % 1200] = '\0';
			} else {
				strcat(text,
				       pieces[random / 8 % (sizeof(pieces) / sizeof(pieces[0]))]);
			}
		}
		read_options(text);
		CHECK(strlen(leakwrap_options.log) < LEAKWRAP_LOG_MAX);
		CHECK(leakwrap_options.log[0] == '/' ||
		      strcmp(leakwrap_options.log, "stderr") == 0);
		CHECK(leakwrap_options.depth >= 1 && leakwrap_options.depth <= 256);
		CHECK(leakwrap_options.signal >= 0 && leakwrap_options.signal <= SIGRTMAX);
	}
}

int main(void)
{
	int null = open("/dev/null", O_WRONLY), standard_error = dup(2);

	CHECK(null >= 0 && standard_error >= 0);
	good_values();
	dup2(null, 2); /* hides the complaints */
	bad_values();
	any_text();
	dup2(standard_error, 2);
	return 0;
}
