/* option_table.c - the table of all options, for reading options and for printing help=1.  A test
 * checks leakwrap-options(7) against it.  Runs once, at start, before any allocation is recorded.
 * Uses no malloc and no stdio. */
#include "wrap/runtime/option_table.h"

#include "wrap/base/options.h"
#include "wrap/fail/fail.h"
#include "wrap/leakwrap.h"
#include "wrap/port/port.h"
#include "wrap/runtime/log_path.h"
#include "report/request.h"
#include "report/line_writer.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* -- values ------------------------------------------------------------------------------------ */

/* A part of the options' text.  Not NUL-terminated. */
struct span {
	const char *start;
	size_t length;
};

static bool is_word(struct span span, const char *word)
{
	return span.length == strlen(word) && memcmp(span.start, word, span.length) == 0;
}

static bool parse_number(struct span text, size_t *number)
{
	size_t value = 0;

	for (size_t i = 0; i < text.length; i++) {
		size_t digit = (size_t)(unsigned char)text.start[i] - '0';

		if (digit > 9 || value > (SIZE_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*number = value;
	return text.length > 0;
}

/* Parses a number of bytes.  A suffix K, M or G multiplies by a power of 1024. */
static bool parse_bytes(struct span text, size_t *number)
{
	static const char units[] = "kmg";
	unsigned shift = 0;

	if (text.length > 1) {
		const char *unit = strchr(units, text.start[text.length - 1] | 0x20);

		if (unit && *unit) {
			shift = (unsigned)(unit - units + 1) * 10;
			text.length--;
		}
	}
	if (!parse_number(text, number) || *number > SIZE_MAX >> shift)
		return false;
	*number <<= shift;
	return true;
}

/* Returns the index of VALUE among the COUNT words, or -1. */
static int choice_of(struct span value, const char *const words[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_word(value, words[i]))
			return (int)i;
	return -1;
}

static bool parse_switch(struct span value, bool *on)
{
	*on = is_word(value, "1");
	return is_word(value, "0") || is_word(value, "1");
}

/* -- options of one shape ---------------------------------------------------------------------- */

/* Defines set_NAME for an option that is 0 or 1. */
#define SWITCH(name)                                                \
	static bool set_##name(struct span value)                   \
	{                                                           \
		return parse_switch(value, &leakwrap_options.name); \
	}

SWITCH(exit)
SWITCH(crash)
SWITCH(command)
SWITCH(record)
SWITCH(allocated)
SWITCH(peak)
SWITCH(blocks)
SWITCH(libraries)
SWITCH(system)

/* Defines set_NAME for an option that is a number of bytes. */
#define BYTES(name)                                                \
	static bool set_##name(struct span value)                  \
	{                                                          \
		return parse_bytes(value, &leakwrap_options.name); \
	}

BYTES(min_bytes)
BYTES(memory)
BYTES(log_max)

/* Defines set_NAME for an option that is one of several words.  They stand for the values of
 * TYPE, an enum. */
#define CHOICE(name, type, ...)                                                               \
	static bool set_##name(struct span value)                                             \
	{                                                                                     \
		static const char *const words[] = {__VA_ARGS__};                             \
		const int choice = choice_of(value, words, sizeof(words) / sizeof(words[0])); \
                                                                                              \
		if (choice >= 0)                                                              \
			leakwrap_options.name = (type)choice;                                 \
		return choice >= 0;                                                           \
	}

CHOICE(children, enum leakwrap_children, [LEAKWRAP_CHILDREN_NONE] = "none",
       [LEAKWRAP_CHILDREN_OWN] = "own", [LEAKWRAP_CHILDREN_ALL] = "all")
CHOICE(unwind, enum leakwrap_unwind, [LEAKWRAP_UNWIND_AUTO] = "auto", [LEAKWRAP_UNWIND_FP] = "fp",
       [LEAKWRAP_UNWIND_TABLE] = "table", [LEAKWRAP_UNWIND_INSTRUMENT] = "instrument")
CHOICE(misuse, enum leakwrap_on_misuse, [LEAKWRAP_ON_MISUSE_NOTHING] = "off",
       [LEAKWRAP_ON_MISUSE_REPORT] = "report", [LEAKWRAP_ON_MISUSE_ABORT] = "abort")
CHOICE(kinds, enum leakwrap_kinds_when, LEAKWRAP_KINDS_WORDS)

/* -- other options ----------------------------------------------------------------------------- */

static bool set_log(struct span value)
{
	return leakwrap_log_path_set(leakwrap_options.log, value.start, value.length);
}

/* The signals that people send and that a program may catch, with the names of kill -l. */
static const struct {
	const char *name;
	int number;
} signal_names[] = {
        {"HUP", SIGHUP},       {"INT", SIGINT},   {"QUIT", SIGQUIT},   {"USR1", SIGUSR1},
        {"USR2", SIGUSR2},     {"ALRM", SIGALRM}, {"TERM", SIGTERM},   {"CONT", SIGCONT},
        {"TSTP", SIGTSTP},     {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},   {"URG", SIGURG},
        {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH}, {"IO", SIGIO},
        {"PWR", SIGPWR},       {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ},   {"PIPE", SIGPIPE},
        {"CHLD", SIGCHLD},     {"SYS", SIGSYS},
};

static bool set_signal(struct span value)
{
	size_t number;

	if (is_word(value, "none")) {
		leakwrap_options.signal = 0;
		return true;
	}
	if (value.length > 3 && memcmp(value.start, "SIG", 3) == 0)
		value = (struct span){value.start + 3, value.length - 3};
	for (size_t i = 0; i < sizeof(signal_names) / sizeof(signal_names[0]); i++)
		if (is_word(value, signal_names[i].name)) {
			leakwrap_options.signal = signal_names[i].number;
			return true;
		}
	if (value.length > 6 && memcmp(value.start, "RTMIN+", 6) == 0) {
		value = (struct span){value.start + 6, value.length - 6};
		if (!parse_number(value, &number) || number > (size_t)(SIGRTMAX - SIGRTMIN))
			return false;
		leakwrap_options.signal = SIGRTMIN + (int)number;
		return true;
	}
	/* Not in the table: signals that cannot be caught or that report a fault. */
	if (!parse_number(value, &number))
		return false;
	for (size_t i = 0; i < sizeof(signal_names) / sizeof(signal_names[0]); i++)
		if (number == (size_t)signal_names[i].number) {
			leakwrap_options.signal = (int)number;
			return true;
		}
	if (number < (size_t)SIGRTMIN || number > (size_t)SIGRTMAX)
		return false;
	leakwrap_options.signal = (int)number;
	return true;
}

static bool set_depth(struct span value)
{
	size_t depth;

	if (!parse_number(value, &depth) || depth < 1 || depth > LEAKWRAP_MAX_DEPTH)
		return false;
	leakwrap_options.depth = (unsigned)depth;
	return true;
}

static bool set_top(struct span value)
{
	return parse_number(value, &leakwrap_options.top);
}

static bool set_sample(struct span value)
{
	return parse_bytes(value, &leakwrap_options.sample) &&
	       leakwrap_options.sample <= LEAKWRAP_SAMPLE_MAX;
}

static bool parse_percent(struct span value, size_t most, unsigned *percent)
{
	size_t number;

	if (!parse_number(value, &number) || number < 1 || number > most)
		return false;
	*percent = (unsigned)number;
	return true;
}

/* Reads a threshold in bytes, which is not 0.  Returns false if it is wrong, or if *THRESHOLD is
 * set. */
static bool parse_threshold(struct span value, size_t *threshold)
{
	return *threshold == 0 && parse_bytes(value, threshold) && *threshold != 0;
}

/* Reads one part of dump_at=, such as "rss:2G".  Returns false if it is wrong, or if the option has
 * had a part of that name. */
static bool set_one_dump_at(struct span part)
{
	const char *colon = memchr(part.start, ':', part.length);
	struct span name = {part.start, colon ? (size_t)(colon - part.start) : part.length};
	struct span value = {part.start + name.length + (colon != NULL),
	                     part.length - name.length - (colon != NULL)};

	if (is_word(part, "failure")) {
		const bool is_first = !leakwrap_options.dump_at_failure;

		leakwrap_options.dump_at_failure = true;
		return is_first;
	}
	if (is_word(name, "live"))
		return parse_threshold(value, &leakwrap_options.dump_at_live);
	if (is_word(name, "rss"))
		return parse_threshold(value, &leakwrap_options.dump_at_rss);
	if (is_word(name, "limit"))
		return leakwrap_options.dump_at_limit == 0 &&
		       parse_percent(value, 100, &leakwrap_options.dump_at_limit);
	if (is_word(name, "height"))
		return leakwrap_options.dump_at_height == 0 &&
		       parse_percent(value, 1000, &leakwrap_options.dump_at_height);
	return false;
}

static bool set_dump_at(struct span value)
{
	leakwrap_options.dump_at_live = leakwrap_options.dump_at_rss = 0;
	leakwrap_options.dump_at_limit = leakwrap_options.dump_at_height = 0;
	leakwrap_options.dump_at_failure = false;
	if (is_word(value, "none"))
		return true;
	for (;;) {
		const char *comma = memchr(value.start, ',', value.length);
		const size_t length = comma ? (size_t)(comma - value.start) : value.length;

		if (!set_one_dump_at((struct span){value.start, length}))
			return false;
		if (!comma)
			return true;
		value.start += length + 1;
		value.length -= length + 1;
	}
}

static bool set_dump_pause(struct span value)
{
	return parse_number(value, &leakwrap_options.dump_pause) &&
	       leakwrap_options.dump_pause <= 1000000000;
}

static bool set_cgroup(struct span value)
{
	char *folder = leakwrap_options.cgroup;

	*folder = '\0';
	if (is_word(value, "auto"))
		return true;
	if (value.length == 0 || value.length >= LEAKWRAP_CGROUP_MAX || value.start[0] != '/')
		return false;
	memcpy(folder, value.start, value.length);
	folder[value.length] = '\0';
	return true;
}

static bool set_fail(struct span value)
{
	return leakwrap_fail_parse(value.start, value.length, &leakwrap_options.fail);
}

static bool set_pointer_step(struct span value)
{
	size_t step = 0;

	if (!is_word(value, "word") &&
	    (!parse_number(value, &step) || (step != 1 && step != 2 && step != 4)))
		return false;
	leakwrap_options.pointer_step = (unsigned)step;
	return true;
}

/* -- the table --------------------------------------------------------------------------------- */

static bool print_help(struct span value);

static const struct option {
	const char *name;
	bool (*set)(struct span value);
	const char *initial; /* in the option's own notation */
	const char *values;
	const char *description;
} table[] = {
        {"log", set_log, "stderr", "stderr or PATH",
         "where dumps go; in PATH %p is the process id, %n the number of the dump, %e the "
         "program's name, %h the host's, %% a %"},
        {"signal", set_signal, "USR1", "NAME, NUMBER, RTMIN+N or none",
         "the signal that asks for a dump"},
        {"exit", set_exit, "1", "0 or 1", "a dump when the program ends"},
        {"children", set_children, "own", "none, own or all",
         "which forked children dump when they end: none; those that hold blocks of their own, "
         "which they have allocated since the fork, and these blocks alone; or all of them, with "
         "all blocks"},
        {"depth", set_depth, "64", "1 to 256", "frames kept of each backtrace"},
        {"top", set_top, "0", "NUMBER", "call sites shown in a dump; 0 is all"},
        {"min_bytes", set_min_bytes, "0", "BYTES",
         "call sites with fewer live bytes are not shown"},
        {"unwind", set_unwind, "auto", "auto, fp, table or instrument",
         "how stacks are walked: by tables and whatever else serves, or by one way alone: frame "
         "pointers, tables, or the hooks of -finstrument-functions"},
        {"memory", set_memory, "0", "BYTES",
         "bound of the memory that the tracer takes; 0 is none; K, M and G may follow"},
        {"crash", set_crash, "0", "0 or 1",
         "a trace with registers and call chain when the program dies of SIGSEGV, SIGBUS, SIGILL, "
         "SIGFPE, SIGTRAP or SIGABRT"},
        {"record", set_record, "1", "0 or 1",
         "0 records nothing until leakwrap set PID record=1, or leakwrap_set_recording"},
        {"sample", set_sample, "0", LEAKWRAP_SAMPLE_VALUES,
         "records a sample of the blocks, one block for each interval of that size on average, "
         "and dumps estimate all blocks; 0 records every block"},
        {"allocated", set_allocated, "0", "0 or 1",
         "counts what each call site has allocated so far, with what was freed again, and how "
         "many of these blocks were temporary; a sample always estimates it"},
        {"peak", set_peak, "0", "0 or 1",
         "dumps also say what each call site held when most bytes were live"},
        {"dump_at", set_dump_at, "none",
         "none or in quotes live:BYTES, rss:BYTES, limit:PERCENT, height:PERCENT, failure",
         "dumps without being asked: when live bytes, resident memory or the share of the cgroup's "
         "limit reach a threshold, when live bytes have grown by a percentage since the last "
         "height, when an allocation fails for the first time"},
        {"dump_pause", set_dump_pause, "60", "SECONDS",
         "the least time between two dumps for the same part of dump_at="},
        {"cgroup", set_cgroup, "auto", "auto or an absolute PATH",
         "the folder of the cgroup's files, for limit in dump_at=; auto asks the kernel"},
        {"log_max", set_log_max, "0", "BYTES",
         "a log file of this size or more is renamed before the next dump: .1 is appended to its "
         "name; 0 is no bound"},
        {"misuse", set_misuse, "off", "off, report or abort",
         "blocks that are freed twice, by a pointer into them or by a function of another kind, "
         "and pointers into the stack or static data that are freed, are reported, as far as that "
         "is certain; abort ends the program then"},
        {"libraries", set_libraries, "1", "0 or 1",
         "0 records only the program's own calls; a dynamic program records the calls of its "
         "shared libraries, too"},
        {"fail", set_fail, "off", "off, or nth=N, rate=N, site=IDENTITY or list, and more words",
         "which allocations fail, as a test of the program; words have commas between them"},
        {"kinds", set_kinds, "exit", LEAKWRAP_KINDS_VALUES,
         "which dumps tell lost memory from reachable memory: none; the dump when the program "
         "ends; or all; leakwrap dump --kinds asks for one"},
        {"pointer_step", set_pointer_step, "word", "word, 1, 2 or 4",
         "the bytes between two places where kinds= looks for a pointer; 1 finds the pointers in "
         "packed structures"},
        {"blocks", set_blocks, "0", "0 or 1",
         "dumps list all live blocks, so that leakwrap report and why can look for lost memory in "
         "a core file"},
        {"system", set_system, "1", "0 or 1",
         "0 leaves out what the C and C++ libraries and the loader allocated for themselves"},
        {"command", set_command, "1", "0 or 1",
         "dumps say which command line started the program, its first 960 bytes; 0 where it holds "
         "a secret"},
        {"help", print_help, "0", "0 or 1", "print this list on standard error"},
};

#define TABLE_SIZE (sizeof(table) / sizeof(table[0]))

static bool print_help(struct span value)
{
	if (!is_word(value, "1"))
		return is_word(value, "0");
	leakwrap_message("options in LEAKWRAP_OPTIONS, as key=value:key=value",
	                 (const char *[]){NULL});
	for (size_t i = 0; i < TABLE_SIZE; i++)
		leakwrap_message("  ", (const char *[]){table[i].name, "=", table[i].initial, "  (",
		                                        table[i].values, ")  ",
		                                        table[i].description, NULL});
	return true;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* Returns more about the values of OPTION, for a complaint. */
static const char *hint_about(const struct option *option)
{
	bool (*const set)(struct span value) = option->set;

	if (set == set_signal)
		return "; KILL and STOP cannot be caught, SEGV, BUS, FPE, ILL, TRAP and ABRT "
		       "report faults, and those from 32 to below RTMIN+0 are the C library's own";
	if (set == set_log)
		return "; PATH is shorter than 1,024 bytes, and in it p, n, e, h or % follows "
		       "each %";
	if (set == set_dump_at)
		return "; each of them once at most; for a shell: "
		       "LEAKWRAP_OPTIONS='dump_at=\"limit:90,failure\"'";
	if (set == set_fail)
		return "; each word once at most";
	if (strncmp(option->values, "BYTES", 5) == 0)
		return "; K, M and G may follow";
	return "";
}

/* Writes a complaint about an option.  WHAT: the option as it was written; its first 63 bytes are
 * shown. */
static void complain(struct span what, const char *why, const char *values, const char *hint)
{
	char word[64];
	bool cut = what.length > sizeof(word) - 1;
	size_t length = cut ? sizeof(word) - 1 : what.length;

	for (size_t i = 0; i < length; i++)
		word[i] = (unsigned char)what.start[i] < ' ' || what.start[i] == 0x7f
		                  ? '?'
		                  : what.start[i];
	word[length] = '\0';
	leakwrap_message("option '",
	                 (const char *[]){word, cut ? "...' " : "' ", why, values, hint,
	                                  "; LEAKWRAP_OPTIONS=help=1 lists all options", NULL});
}

static void set_option(struct span name, struct span value, struct span option)
{
	struct leakwrap_options before = leakwrap_options;

	for (size_t i = 0; i < TABLE_SIZE; i++) {
		if (!is_word(name, table[i].name))
			continue;
		if (!table[i].set(value)) {
			leakwrap_options = before;
			complain(option, "cannot be used, and is ignored: it takes ",
			         table[i].values, hint_about(&table[i]));
		}
		return;
	}
	complain(option, "is unknown, and ignored", "", "");
}

/* Reads a value at TEXT into *VALUE.  The value ends at a colon.  A value that begins with a
 * quotation mark ends at the next such mark, and the option ends there, too.  If that mark is
 * missing, or text other than a colon follows it, *VALUE is empty, which no option accepts.
 * Returns the end of the value. */
static const char *read_value(const char *text, struct span *value)
{
	*value = (struct span){text, strcspn(text, ":")};
	if (*text != '"' && *text != '\'')
		return text + value->length;

	const char *end = strchr(text + 1, *text);

	if (end && (end[1] == ':' || end[1] == '\0'))
		*value = (struct span){text + 1, (size_t)(end - text - 1)};
	else
		*value = (struct span){"", 0};
	return end ? end + 1 : text + 1;
}

/* Returns whether the value at TEXT begins with a quotation mark and has no second one. */
static bool is_unclosed(const char *text)
{
	return (*text == '"' || *text == '\'') && !strchr(text + 1, *text);
}

static void read_options(const char *text)
{
	while (*text != '\0') {
		struct span name = {text, strcspn(text, "=:")};
		struct span value = {"", 0};

		text += name.length;
		if (*text == '=' && is_unclosed(text + 1)) {
			text += 1 + strcspn(text + 1, ":");
			complain((struct span){name.start, (size_t)(text - name.start)},
			         "is ignored: its quotation mark is not closed", "", "");
			name.start = text;
		} else if (*text == '=') {
			text = read_value(text + 1, &value);
		}
		if (text > name.start) /* skip empty options */
			set_option(name, value,
			           (struct span){name.start, (size_t)(text - name.start)});
		text += strcspn(text, ":");
		if (*text == ':')
			text++;
	}
}

/* Gives each option the value that it has if nobody sets it. */
static void set_initial_values(void)
{
	for (size_t i = 0; i < TABLE_SIZE; i++)
		table[i].set((struct span){table[i].initial, strlen(table[i].initial)});
}

void leakwrap_options_stand_aside(void)
{
	set_initial_values();
	read_options("record=0:exit=0:signal=none:libraries=0");
}

void leakwrap_options_read(void)
{
	const char *text;

	set_initial_values();
	if (leakwrap_default_options && (text = leakwrap_default_options()) != NULL)
		read_options(text);
	if (&leakwrap_link_options)
		read_options(leakwrap_link_options);
	if (!leakwrap_process_is_privileged() &&
	    (text = leakwrap_environment("LEAKWRAP_OPTIONS")) != NULL)
		read_options(text);
}
