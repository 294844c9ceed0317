/* options.c - see options.h. */
#include "tools/command/options.h"
#include "tools/base/files.h"
#include "tools/base/numbers.h"
#include "tools/command/settings.h"
#include "tools/model/add_log.h"
#include "tools/model/kinds.h"
#include "tools/model/totals.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- arguments --------------------------------------------------------------------------------- */

enum {
	KEY_EXE = 0x100,
	KEY_SYSROOT,
	KEY_DEBUG_DIR,
	KEY_MAP,
	KEY_SUPPRESSIONS,
	KEY_NO_SYSTEM,
	KEY_ORIGIN,
	KEY_SHOW_LEAK_KINDS,
	KEY_TOP,
	KEY_ALL,
	KEY_COLOR,
	KEY_SKIP,
	KEY_NO_SKIP,
	KEY_CONFIG,
};

static const struct argp_option option_table[] = {
        {0, 0, 0, 0, "Output:", 2},
        {"format", 'f', "NAME", 0, "text (default), json or html; of dumps also folded or pprof",
         2},
        {"output", 'o', "FILE", 0, "Write to FILE instead of standard output", 2},
        {"top", KEY_TOP, "N", 0,
         "In text, at most N call sites of each dump (default 20; 0 is all)", 2},
        {"all", KEY_ALL, 0, 0, "In text, all dumps, call sites and frames", 2},
        {"color", KEY_COLOR, "WHEN", 0, "auto (default), always or never; NO_COLOR is respected",
         2},
        {0, 0, 0, 0, "Where the traced program's files are:", 3},
        {"map", KEY_MAP, "FILE", 0, "The linker's map of the program, for --by=member", 3},
        {0, 0, 0, 0, "What to pass over:", 4},
        {"suppressions", KEY_SUPPRESSIONS, "FILE", 0,
         "Call sites to leave out, in LeakSanitizer's format; may be repeated", 4},
        {"skip", KEY_SKIP, "PATTERN", 0,
         "Also pass over frames whose function, source file or module matches, as wrappers of an "
         "allocator; may be repeated",
         4},
        {"no-skip", KEY_NO_SKIP, "PATTERN", OPTION_ARG_OPTIONAL,
         "Never pass over frames that match; without PATTERN, over none", 4},
        {"no-system", KEY_NO_SYSTEM, 0, 0,
         "Leave out what the C and C++ libraries and the loader allocated for themselves", 4},
        {"origin", KEY_ORIGIN, "LIST", 0,
         "Show only what was allocated by program, library (shared libraries) or system_library; a "
         "comma between them",
         4},
        {0, 0, 0, 0, "Settings:", 6},
        {"config", KEY_CONFIG, "FILE", 0,
         "Read long options from FILE, one a line (default .leakwrap, if it is there)", 6},
        {0},
};

static const struct argp_option file_table[] = {
        {"exe", KEY_EXE, "FILE", 0, "The program itself, with its symbols", 3},
        {"sysroot", KEY_SYSROOT, "DIR", 0, "What is / on the traced machine", 3},
        {"debug-dir", KEY_DEBUG_DIR, "DIR", 0,
         "A folder with .build-id/xx/yyy.debug, or with unstripped files; may be repeated", 3},
        {0},
};

enum { TOP_OF_TEXT = 20 };

unsigned options_get_top(const struct options *options)
{
	return options->top_given ? options->top : options->all ? 0 : TOP_OF_TEXT;
}

void add_pattern(struct patterns *patterns, const char *pattern)
{
	GROW(patterns->all, patterns->room, patterns->count + 1);
	patterns->all[patterns->count++] = pattern;
}

/* Returns the origins that LIST names, as bits. */
static unsigned parse_origins(const char *list, const struct argp_state *state)
{
	unsigned origins = 0;
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ",");
		unsigned i = 0;
		while (i < 3 && (strlen(origin_names[i]) != length ||
		                 strncmp(at, origin_names[i], length) != 0))
			i++;
		if (i == 3)
			option_error(state,
			             "--origin=%s: must be some of program, library and "
			             "system_library, with commas between them",
			             list);
		else
			origins |= 1u << i;
		at += length;
		if (!*at)
			return origins;
	}
}

static const struct format_traits formats[] = {
        [FORMAT_TEXT] = {"text", .takes_by = true, .takes_merge = true, .is_for_torture = true},
        [FORMAT_JSON] = {"json", .takes_by = true, .is_for_torture = true},
        [FORMAT_FOLDED] = {"folded", .takes_merge = true, .adds_up_dumps = true},
        [FORMAT_PPROF] = {"pprof", .takes_merge = true, .adds_up_dumps = true},
        [FORMAT_HTML] = {"html", .takes_merge = true, .is_for_torture = true},
};
enum { FORMATS = sizeof formats / sizeof *formats };

const struct format_traits *format_traits(enum format format)
{
	return &formats[format];
}

const char *format_names(struct arena *arena, bool only_for_torture)
{
	const char *names = "", *last = NULL;

	for (size_t i = 0; i < FORMATS; i++) {
		if (only_for_torture && !formats[i].is_for_torture)
			continue;
		if (last)
			names = arena_format(arena, "%s%s%s", names, *names ? ", " : "", last);
		last = formats[i].name;
	}
	return arena_format(arena, "%s or %s", names, last);
}

static enum format format_named(const struct argp_state *state, const char *name)
{
	struct options *options = state->input;

	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(name, formats[i].name) == 0)
			return (enum format)i;
	option_error(state, "--format=%s: must be %s", name, format_names(&options->arena, false));
	return FORMAT_TEXT;
}

uint64_t option_size(const struct argp_state *state, const char *name, const char *argument)
{
	uint64_t value;
	if (!parse_size(argument, &value))
		option_error(state,
		             "--%s=%s: must be a number from 0 to 2^64-1, also with K, M, G or T",
		             name, argument);
	return value;
}

uint64_t option_seconds(const struct argp_state *state, const char *name, const char *argument,
                        uint64_t least)
{
	enum { DAY = 86400 };
	uint64_t seconds;
	if (!parse_number(argument, &seconds) || seconds < least || seconds > DAY)
		option_error(state, "--%s=%s: must be a number of seconds from %" PRIu64 " to %d",
		             name, argument, least, DAY);
	return seconds;
}

unsigned option_count(const struct argp_state *state, const char *argument)
{
	const uint64_t number = option_size(state, "top", argument);
	return number < UINT_MAX ? (unsigned)number : UINT_MAX;
}

unsigned option_kinds(const struct argp_state *state, const char *name, const char *argument)
{
	unsigned kinds = parse_kinds(argument);
	if (!kinds)
		option_error(state,
		             "--%s=%s: must be some of definite, indirect, possible and reachable, "
		             "with commas between them, or all",
		             name, argument);
	return kinds;
}

const char *option_text(const struct argp_state *state, const char *name, const char *argument)
{
	if (!*argument)
		option_error(state, "--%s= needs a value", name);
	return argument;
}

/* Returns ARGUMENT, the file or folder of option NAME.  Ends the tool with a usage error if it is
 * not there or cannot be read. */
static const char *readable_path(const struct argp_state *state, const char *name,
                                 const char *argument)
{
	if (access(argument, R_OK) != 0)
		option_error(state, "--%s=%s: %s", name, argument, strerror(errno));
	remember_input_path(argument);
	return argument;
}

/* Returns ARGUMENT of option NAME, or ends the tool with a message if it is no folder. */
static const char *folder_path(const struct argp_state *state, const char *name,
                               const char *argument)
{
	struct stat status;

	if (stat(readable_path(state, name, argument), &status) == 0 && !S_ISDIR(status.st_mode))
		option_error(state, "--%s=%s: %s", name, argument, strerror(ENOTDIR));
	return argument;
}

/* Returns ARGUMENT of the option exe, or ends the tool with a message if it is no ELF file. */
static const char *program_path(const struct argp_state *state, const char *argument)
{
	const int fd = open_regular(readable_path(state, "exe", argument));
	char magic[SELFMAG];

	if (fd < 0 || read(fd, magic, SELFMAG) != SELFMAG || memcmp(magic, ELFMAG, SELFMAG) != 0)
		option_error(state, "--exe=%s: no ELF file", argument);
	close(fd);
	return argument;
}

static enum color color_named(const struct argp_state *state, const char *name)
{
	if (strcmp(name, "always") == 0)
		return COLOR_ALWAYS;
	if (strcmp(name, "never") == 0)
		return COLOR_NEVER;
	if (strcmp(name, "auto") != 0)
		option_error(state, "--color=%s: must be auto, always or never", name);
	return COLOR_AUTO;
}

/* Adds the folder PATH, in which separate files with debug information are looked for. */
static void add_debug_dir(struct options *options, const char *path)
{
	struct search *search = &options->search;

	GROW(search->debug_dirs, options->debug_dir_room, search->debug_dir_count + 1);
	search->debug_dirs[search->debug_dir_count++] = path;
}

/* Does not skip functions that match PATTERN, or any function if there is none. */
static void keep_functions(struct options *options, const char *pattern)
{
	if (pattern && *pattern)
		add_pattern(&options->skips.keep, pattern);
	else
		options->skips.none = true;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		options->format = format_named(state, argument);
		break;
	case 'o':
		options->output = option_text(state, "output", argument);
		break;
	case KEY_TOP:
		options->top = option_count(state, argument);
		options->top_given = true;
		break;
	case KEY_ALL:
		options->all = true;
		break;
	case KEY_SKIP:
		if (!*argument)
			option_error(state, "--skip needs a pattern");
		add_pattern(&options->skips.skip, argument);
		break;
	case KEY_NO_SKIP:
		keep_functions(options, argument);
		break;
	case KEY_CONFIG: /* settings_read has read it */
		break;
	case KEY_COLOR:
		options->color = color_named(state, argument);
		break;
	case KEY_EXE:
		options->search.exe = program_path(state, argument);
		break;
	case KEY_SYSROOT:
		options->search.sysroot = folder_path(state, "sysroot", argument);
		break;
	case KEY_DEBUG_DIR:
		add_debug_dir(options, folder_path(state, "debug-dir", argument));
		break;
	case KEY_MAP:
		options->search.map = readable_path(state, "map", argument);
		break;
	case KEY_SUPPRESSIONS:
		if (!suppressions_read(&options->suppressions, &options->arena,
		                       readable_path(state, "suppressions", argument)))
			exit(STATUS_USAGE);
		break;
	case KEY_NO_SYSTEM:
		options->no_system = true;
		break;
	case KEY_ORIGIN:
		options->origins = parse_origins(argument, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
	if (key != ARGP_KEY_INIT)
		return parse_option(key, argument, state);
	state->child_inputs[0] = state->input;
	return 0;
}

static const struct argp file_argp = {.options = file_table, .parser = parse_option};
const struct argp_child file_options[] = {{&file_argp, 0, NULL, 0}, {0}};
static const struct argp options_argp = {
        .options = option_table, .parser = parse_common, .children = file_options};
const struct argp_child common_options[] = {{&options_argp, 0, NULL, 0}, {0}};

static const struct argp_option kinds_table[] = {
        {"show-leak-kinds", KEY_SHOW_LEAK_KINDS, "KINDS", 0,
         "Show only blocks of these kinds: definite, indirect, possible, reachable, with commas "
         "between them, or all",
         4},
        {0},
};

static error_t parse_kinds_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	if (key != KEY_SHOW_LEAK_KINDS)
		return ARGP_ERR_UNKNOWN;
	options->kinds = option_kinds(state, "show-leak-kinds", argument);
	return 0;
}

static const struct argp kinds_argp = {.options = kinds_table, .parser = parse_kinds_option};
const struct argp_child dump_options[] = {
        {&options_argp, 0, NULL, 0}, {&kinds_argp, 0, NULL, 0}, {0}};

void options_free(struct options *options)
{
	free(options->search.debug_dirs);
	free(options->suppressions.all);
	skips_free(&options->skips);
	arena_free(&options->arena);
}

/* -- stages ------------------------------------------------------------------------------------ */

void complete_report(struct report *report, struct options *options)
{
	report_finish(report);
	symbolize(report, &options->search);
	bool keeps[3];
	for (unsigned i = 0; i < 3; i++)
		keeps[i] = !options->origins || options->origins >> i & 1;
	if (options->no_system)
		keeps[ORIGIN_SYSTEM] = false;
	if (!keeps[ORIGIN_PROGRAM] || !keeps[ORIGIN_LIBRARY] || !keeps[ORIGIN_SYSTEM])
		keep_origins(report, keeps);
	find_askers(report, &options->skips);
	suppressions_apply(&options->suppressions, report);
}

bool choose_kinds(struct report *report, const struct options *options)
{
	if (!options->kinds || report->dump_count == 0)
		return true;
	size_t removed = keep_kinds(report, options->kinds);
	if (report->dump_count == 0)
		complain("no dump tells lost from reachable memory: make one by leakwrap dump "
		         "--kinds, or by the program's option kinds=always");
	else if (removed)
		complain("%zu dump%s left out that %s not tell lost from reachable memory", removed,
		         removed == 1 ? " is" : "s are", removed == 1 ? "does" : "do");
	return report->dump_count > 0;
}

/* -- output ------------------------------------------------------------------------------------ */

/* A variable NO_COLOR that is not empty asks for no colour (no-color.org). */
struct style options_style(const struct options *options, FILE *stream)
{
	struct style style = {0};
	bool terminal = isatty(fileno(stream));
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size;

	style.color = options->color == COLOR_ALWAYS ||
	              (options->color == COLOR_AUTO && terminal && !(no_color && *no_color) &&
	               !(term && strcmp(term, "dumb") == 0));
	if (terminal && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	return style;
}

static void render(FILE *stream, const struct options *options, void *context)
{
	const struct answer *answer = context;
	struct style style = options_style(options, stream);

	switch (options->format) {
	case FORMAT_TEXT:
		render_text(stream, answer, &style);
		break;
	case FORMAT_JSON:
		render_json(stream, answer);
		break;
	case FORMAT_FOLDED:
		render_folded(stream, answer);
		break;
	case FORMAT_PPROF:
		render_pprof(stream, answer);
		break;
	case FORMAT_HTML:
		render_html(stream, answer);
		break;
	}
}

static bool has_output_file(const struct options *options)
{
	return options->output && strcmp(options->output, "-") != 0;
}

/* Returns whether the output is no input.  If it is one, a message says so. */
static bool is_output_apart(const struct options *options)
{
	if (!has_output_file(options) || !is_input(options->output))
		return true;
	complain("%s is an input of this command: give -o another file", options->output);
	return false;
}

/* Returns whether a file may be created in the folder of PATH.  If not, errno says why. */
static bool may_create(const char *path)
{
	char *copy = xstrdup(path);
	const char *folder = dirname(copy);
	struct stat status;
	bool fine = stat(folder, &status) == 0;

	if (fine && !S_ISDIR(status.st_mode)) {
		errno = ENOTDIR;
		fine = false;
	}
	fine = fine && access(folder, W_OK | X_OK) == 0;
	free(copy);
	return fine;
}

bool check_output(const struct options *options)
{
	const char *name = options->output;
	struct stat status;
	bool fine;

	if (!has_output_file(options))
		return true;
	if (!is_output_apart(options))
		return false;
	errno = 0;
	if (stat(name, &status) == 0) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : 0;
		fine = errno == 0 && access(name, W_OK) == 0;
	} else if (errno == ENOENT && lstat(name, &status) == 0) {
		fine = true; /* the link leads to a file that is created elsewhere */
	} else {
		fine = may_create(name);
	}
	if (!fine)
		complain("%s: %s", name, strerror(errno));
	return fine;
}

enum status write_output(const struct options *options, output_writer *writer, void *context)
{
	const bool is_file = has_output_file(options);
	const char *name = is_file ? options->output : "standard output";
	FILE *stream = stdout;

	if (!is_output_apart(options))
		return STATUS_USAGE;
	if (is_file) {
		stream = fopen(name, "we");
		if (!stream) {
			complain("%s: %s", name, strerror(errno));
			return STATUS_USAGE;
		}
	} else if (options->format == FORMAT_PPROF && isatty(STDOUT_FILENO)) {
		complain("a pprof profile is not for a terminal: give -o FILE");
		return STATUS_USAGE;
	}
	progress_done();
	writer(stream, options, context);

	bool failed = fflush(stream) != 0 || ferror(stream);
	if (is_file && fclose(stream) != 0)
		failed = true;
	if (failed)
		complain("%s: %s", name, errno ? strerror(errno) : "cannot be written");
	return failed ? STATUS_USAGE : STATUS_FINE;
}

enum status write_answer(const struct options *options, struct answer *answer)
{
	return write_output(options, render, answer);
}
