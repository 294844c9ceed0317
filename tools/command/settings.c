/* settings.c - see settings.h. */
#include "tools/command/settings.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"

static const char file_name[] = ".leakwrap";
static const char config_option[] = "config";

/* Where the settings come from.  They are the arguments 1 to COUNT. */
static struct {
	const char *file;
	unsigned long *lines; /* the line of each setting, in the command's arena */
	size_t count;
} origin;

bool is_setting(const struct argp_state *state)
{
	const size_t argument = (size_t)state->next - 1;

	return argument >= 1 && argument <= origin.count;
}

void option_error(const struct argp_state *state, const char *format, ...)
{
	va_list arguments;
	char *text;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		die("out of memory");
	va_end(arguments);
	if (is_setting(state))
		die("%s:%lu: %s", origin.file, origin.lines[state->next - 2], text);
	argp_error(state, "%s", text);
	free(text);
}

/* -- the file ---------------------------------------------------------------------------------- */

/* The options of a command in the form of getopt_long. */
struct getopt_options {
	const char *letters;
	struct option *all; /* the last one has no name */
	size_t count, room;
};

enum { CONFIG_KEY = 1 }; /* no letter */

/* Adds the options of ARGP and its children to OPTIONS.  Letters come from ARENA. */
static void add_options(struct getopt_options *options, struct arena *arena,
                        const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++) {
		const bool optional = o->flags & OPTION_ARG_OPTIONAL;

		if (o->key > ' ' && o->key <= '~')
			options->letters = arena_format(arena, "%s%c%s", options->letters, o->key,
			                                !o->arg    ? ""
			                                : optional ? "::"
			                                           : ":");
		if (!o->name)
			continue;
		GROW(options->all, options->room, options->count + 2);
		options->all[options->count++] =
		        (struct option){o->name,
		                        !o->arg    ? no_argument
		                        : optional ? optional_argument
		                                   : required_argument,
		                        NULL, strcmp(o->name, config_option) == 0 ? CONFIG_KEY : 0};
		options->all[options->count] = (struct option){0};
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		add_options(options, arena, child->argp);
}

/* Returns the file that the last --config names among the options of ARGP on the command line, or
 * NULL.  FLAGS are those of argp_parse. */
static const char *named_file(struct arena *arena, const struct argp *argp, unsigned flags,
                              int argc, char *const *argv)
{
	struct getopt_options options = {.letters = flags & ARGP_IN_ORDER ? "+" : ""};
	char **words = arena_alloc(arena, ((size_t)argc + 1) * sizeof *words);
	const char *file = NULL;

	add_options(&options, arena, argp);
	memcpy(words, argv, ((size_t)argc + 1) * sizeof *words); /* getopt_long moves words */
	opterr = 0;                                              /* argp_parse tells errors */
	for (int key = 0; key != -1;) {
		key = getopt_long(argc, words, options.letters, options.all, NULL);
		if (key == CONFIG_KEY)
			file = optarg;
	}
	free(options.all);
	return file;
}

/* -- its lines --------------------------------------------------------------------------------- */

/* Returns the option of ARGP or its children whose name is the LENGTH bytes at NAME, or NULL. */
static const struct argp_option *find_option(const struct argp *argp, const char *name,
                                             size_t length)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->name && strlen(o->name) == length && memcmp(o->name, name, length) == 0)
			return o;
	for (const struct argp_child *child = argp->children; child && child->argp; child++) {
		const struct argp_option *found = find_option(child->argp, name, length);
		if (found)
			return found;
	}
	return NULL;
}

/* Returns true if a settings file may hold OPTION.  The output and the settings file are named on
 * the command line alone. */
static bool is_allowed(const struct argp_option *option)
{
	return strcmp(option->name, "output") != 0 && strcmp(option->name, config_option) != 0;
}

/* Returns the option on LINE as a word of the command line, or NULL if only another command has it.
 * FILE and NUMBER are for messages. */
static char *argument_of(struct arena *arena, const struct argp *argp, const struct argp *others,
                         const char *line, const char *file, unsigned long number)
{
	if (strncmp(line, "--", 2) == 0)
		line += 2;
	size_t length = strcspn(line, "=");
	if (length == 0)
		die("%s:%lu: an option without a name", file, number);
	bool has_value = line[length] == '=';
	const struct argp_option *own = find_option(argp, line, length);
	const struct argp_option *option = own ? own : find_option(others, line, length);

	if (!option || !is_allowed(option))
		die("%s:%lu: %.*s is no option that a settings file may hold", file, number,
		    (int)length, line);
	if (has_value && !option->arg)
		die("%s:%lu: %s takes no value", file, number, option->name);
	if (!has_value && option->arg && !(option->flags & OPTION_ARG_OPTIONAL))
		die("%s:%lu: %s needs a value: %s=%s", file, number, option->name, option->name,
		    option->arg);
	return own ? arena_format(arena, "--%s", line) : NULL;
}

void settings_read(struct arena *arena, const struct argp *argp, const struct argp *others,
                   unsigned flags, int *argc, char ***argv)
{
	const char *named = named_file(arena, argp, flags, *argc, *argv);
	const char *file = named ? named : file_name;
	struct setting_lines lines = {.stream = fopen(file, "re")};
	char **all = NULL;
	unsigned long *numbers = NULL;
	size_t all_room = 0, number_room = 0, count = 0;

	if (!lines.stream && !named && errno == ENOENT)
		return;
	if (!lines.stream)
		die("%s%s: %s", named ? "--config=" : "", file, strerror(errno));
	remember_input(fileno(lines.stream));
	GROW(all, all_room, (size_t)*argc + 1);
	GROW(numbers, number_room, 1);
	all[count++] = (*argv)[0];
	for (const char *text; (text = next_setting(&lines)) != NULL;) {
		char *argument = argument_of(arena, argp, others, text, file, lines.number);
		if (argument) {
			GROW(all, all_room, count + (size_t)*argc + 1);
			GROW(numbers, number_room, count);
			numbers[count - 1] = lines.number;
			all[count++] = argument;
		}
	}
	if (errno && (named || errno != EISDIR))
		die("%s: %s", file, strerror(errno));
	fclose(lines.stream);
	free(lines.line);
	char **joined = arena_alloc(arena, (count + (size_t)*argc) * sizeof *joined);
	memcpy(joined, all, count * sizeof *joined);
	memcpy(joined + count, *argv + 1,
	       (size_t)*argc * sizeof *joined); /* with the NULL at its end */
	free(all);
	origin.file = file;
	origin.count = count - 1;
	origin.lines = arena_alloc(arena, count * sizeof *origin.lines);
	for (size_t i = 0; i < origin.count; i++)
		origin.lines[i] = numbers[i];
	free(numbers);
	*argc += (int)count - 1;
	*argv = joined;
}
