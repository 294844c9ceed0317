/* options.h - what report and diff have in common: options, the stages between reading and writing,
 * and the output.
 */
#ifndef TOOLS_COMMAND_OPTIONS_H
#define TOOLS_COMMAND_OPTIONS_H

#include <argp.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
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

/* What can be asked of a format. */
struct format_traits {
	const char *name;
	bool takes_by;       /* it can show groups of call sites */
	bool takes_merge;    /* it can show the sum of several processes */
	bool adds_up_dumps;  /* it can show nothing but a sum of dumps */
	bool is_for_torture; /* leakwrap torture can write it */
};

const struct format_traits *format_traits(enum format format);

/* Returns the names of all formats, or of those for a torture: "text, json or html". */
const char *format_names(struct arena *arena, bool only_for_torture);

struct options {
	struct search search;
	size_t debug_dir_room;
	struct suppressions suppressions;
	unsigned origins;   /* to show, bits by enum origin; 0: all */
	bool no_system;     /* leaves out ORIGIN_SYSTEM of them */
	unsigned kinds;     /* to show, a set; 0: all, and dumps without kinds, too */
	struct arena arena; /* of the suppressions and settings */
	enum format format;
	const char *output; /* NULL: standard output */
	bool top_given, all;
	unsigned top; /* if TOP_GIVEN */
	struct skips skips;
	enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
};

/* The children of the argp of a command that shows call sites.  The input is a struct options. */
extern const struct argp_child common_options[];

/* The children of the argp of a command that shows dumps: the child above, and the child with the
 * options for kinds of blocks.  The inputs of both are the same struct options. */
extern const struct argp_child dump_options[];

/* The child with the options that say where the files of the traced program are. */
extern const struct argp_child file_options[];

/* The argp of report.  A settings file has options of report, and diff passes over those that it
 * lacks. */
extern const struct argp report_argp;

void options_free(struct options *options);

/* Returns the greatest number of call sites that text shows of a dump; 0 is all. */
unsigned options_get_top(const struct options *options);

/* Returns the number ARGUMENT of option NAME, or ends the tool with a usage error.  K, M, G or T
 * may follow the number. */
uint64_t option_size(const struct argp_state *state, const char *name, const char *argument);

/* Returns the seconds of ARGUMENT of option NAME.  Ends the tool with a usage error if they are not
 * from LEAST to 86400. */
uint64_t option_seconds(const struct argp_state *state, const char *name, const char *argument,
                        uint64_t least);

/* Returns the number ARGUMENT of the option top, or UINT_MAX for all larger numbers.  Ends the tool
 * with a usage error if it is no number. */
unsigned option_count(const struct argp_state *state, const char *argument);

/* Returns the set of kinds (kinds.h) that ARGUMENT of option NAME lists.  Ends the tool with a
 * usage error if a word of it is no kind. */
unsigned option_kinds(const struct argp_state *state, const char *name, const char *argument);

/* Returns ARGUMENT of option NAME.  Ends the tool with a usage error if it is empty. */
const char *option_text(const struct argp_state *state, const char *name, const char *argument);

/* Adds PATTERN, which is not copied, to PATTERNS. */
void add_pattern(struct patterns *patterns, const char *pattern);

/* Runs the stages between reading and writing on REPORT, to which all logs are added.  Names
 * functions, finds who asked for the memory, and takes out what the options leave out. */
void complete_report(struct report *report, struct options *options);

/* Takes out of REPORT, which is complete, the blocks that are not of the kinds that OPTIONS name,
 * and the dumps that do not tell their kinds.  Returns false, after a message, if no dump does. */
bool choose_kinds(struct report *report, const struct options *options);

/* Returns how text that goes to STREAM looks. */
struct style options_style(const struct options *options, FILE *stream);

/* Writes a document to STREAM. */
typedef void output_writer(FILE *stream, const struct options *options, void *context);

/* Returns whether the output that OPTIONS name can be written, and is no input.  If not, a message
 * says why.  Creates nothing. */
bool check_output(const struct options *options);

/* Opens the output that OPTIONS name and lets WRITER, with CONTEXT, write to it.  Returns
 * STATUS_FINE or, after a message, STATUS_USAGE. */
enum status write_output(const struct options *options, output_writer *writer, void *context);

/* Writes ANSWER in the format and to the output that OPTIONS name.  Returns what write_output
 * does. */
enum status write_answer(const struct options *options, struct answer *answer);

#endif
