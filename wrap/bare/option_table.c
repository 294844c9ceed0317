/* option_table.c - the options that work without an operating system.  They come from
 * leakwrap_default_options() and from leakwrap_link_options.  The notation is that of the
 * environment variable LEAKWRAP_OPTIONS.  All values are numbers. */
#include "wrap/runtime/option_table.h"

#include "report/request.h"
#include "wrap/base/options.h"
#include "wrap/leakwrap.h"
#include "report/line_writer.h"

#include <stdint.h>
#include <string.h>

/* The default depth.  It suffices for most stacks and needs little of a small stack. */
#define DEFAULT_DEPTH 16

/* Sets the option whose name is the LENGTH bytes at NAME.  Returns false if the name is unknown or
 * VALUE is out of range. */
static bool set_option(const char *name, size_t length, size_t value)
{
	struct leakwrap_options *to = &leakwrap_options;

	if (length == 5 && memcmp(name, "depth", length) == 0) {
		if (value < 1 || value > LEAKWRAP_MAX_DEPTH)
			return false;
		to->depth = (unsigned)value;
	} else if (length == 3 && memcmp(name, "top", length) == 0) {
		to->top = value;
	} else if (length == 9 && memcmp(name, "min_bytes", length) == 0) {
		to->min_bytes = value;
	} else if (length == 4 && memcmp(name, "exit", length) == 0 && value <= 1) {
		to->exit = value == 1;
	} else if (length == 6 && memcmp(name, "blocks", length) == 0 && value <= 1) {
		to->blocks = value == 1;
	} else {
		return false;
	}
	return true;
}

/* Complains of the option of LENGTH bytes at TEXT, of which the message has a few. */
static void complain(const char *text, size_t length)
{
	char option[40];

	if (length > sizeof(option) - 1)
		length = sizeof(option) - 1;
	memcpy(option, text, length);
	option[length] = '\0';
	leakwrap_message("an option is unknown or has a value that cannot be used: ",
	                 (const char *[]){option, NULL});
}

/* Reads "=NUMBER" at TEXT up to the next option or the end.  Sets *VALUE.  Returns false if
 * something else is there, or if the number does not fit. */
static bool read_value(const char *text, size_t *value)
{
	const char *const first = ++text;

	if (text[-1] != '=')
		return false;
	for (*value = 0; *text >= '0' && *text <= '9'; text++) {
		const size_t digit = (size_t)(*text - '0');

		if (*value > (SIZE_MAX - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return text > first && (*text == ':' || *text == '\0');
}

static void read_options(const char *text)
{
	while (*text != '\0') {
		const size_t length = strcspn(text, ":"), name_length = strcspn(text, "=:");
		size_t value;

		if (!read_value(text + name_length, &value) ||
		    !set_option(text, name_length, value))
			complain(text, length);
		text += length + (text[length] == ':');
	}
}

void leakwrap_options_read(void)
{
	const char *const defaults = leakwrap_default_options ? leakwrap_default_options() : NULL;

	leakwrap_options.depth = DEFAULT_DEPTH;
	leakwrap_options.exit = true;
	leakwrap_options.kinds = LEAKWRAP_KINDS_ALWAYS; /* if the program has the code for it */
	if (defaults)
		read_options(defaults);
	if (&leakwrap_link_options)
		read_options(leakwrap_link_options);
}
