/* options.h - the options that report and diff have in common: where to look for files, which format to
 * write, and where to.
 */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <argp.h>

#include "tools/model/askers.h"
#include "tools/render/render.h"
#include "tools/model/suppress.h"
#include "tools/symbolize/symbolize.h"

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_FOLDED,
	FORMAT_PPROF,
	FORMAT_HTML,
};

struct options {
	struct search search;
	size_t debug_dir_room;
	struct suppressions suppressions;
	bool no_system;
	struct arena arena; /* of the suppressions */
	enum format format;
	const char *output; /* NULL: standard output */
	bool top_given, all;
	unsigned top; /* if TOP_GIVEN */
	struct skips skips;
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
};

/* A child for argp; its input is a struct options. */
extern const struct argp options_argp;

void options_free(struct options *options);

/* The most call sites of each dump that text shows; 0: all. */
unsigned options_top(const struct options *options);

/* Reads a number for option NAME, or ends with a usage error. */
uint64_t option_size(const struct argp_state *state, const char *name, const char *argument);

const char *format_name(enum format format);

/* Writes ANSWER as the options say.  Returns STATUS_FINE or, after a message, STATUS_USAGE. */
enum status write_answer(const struct options *options, const struct answer *answer);

#endif
