/* settings.h - the options that a project keeps in a file. */
#ifndef TOOLS_COMMAND_SETTINGS_H
#define TOOLS_COMMAND_SETTINGS_H

#include <argp.h>
#include <stdbool.h>

#include "tools/base/memory.h"

/* Puts the options of a file in front of those of the command line in *ARGC and *ARGV.  So the
 * command line overrides the file.
 *
 * --config=FILE names the file.  Without it the file is .leakwrap in the current folder, if there
 * is such a file.  A line is a long option, with or without its dashes: "skip=pool_*".  Empty lines
 * and lines that begin with # are comments.
 *
 * ARGP has the options of the command, and FLAGS are those of argp_parse.  Options that only OTHERS
 * has are skipped.  The new *ARGV comes from ARENA.  Ends the tool with a message if the file
 * cannot be read or a line is no option. */
void settings_read(struct arena *arena, const struct argp *argp, const struct argp *others,
                   unsigned flags, int *argc, char ***argv);

/* Returns true if the option that argp reads at STATE is of a settings file. */
bool is_setting(const struct argp_state *state);

/* Ends the tool with status 2 and a message about the option that argp reads at STATE.  FORMAT is
 * the text.  For an option of a settings file the message names the file and the line. */
void option_error(const struct argp_state *state, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif
