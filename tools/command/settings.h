/* settings.h - options that a project keeps in a file. */
#ifndef TOOLS_SETTINGS_H
#define TOOLS_SETTINGS_H

#include <argp.h>

#include "tools/util.h"

/* Puts the options in a file before those of the command line, so that the command line has the
 * last word.
 *
 * The file is the one that --config=FILE names, or else .leakwrap in the current folder, if there
 * is one.  A line is a long option, with or without its dashes: "skip=pool_*".  Empty lines, and
 * lines that begin with #, are comments.  ARGP has the command's options; options that only
 * OTHERS has are passed over.  Everything that is written comes from ARENA.  Ends the tool with a
 * message if the file cannot be read or has a line that is no option. */
void settings_read(struct arena *arena, const struct argp *argp, const struct argp *others, int *argc,
                   char ***argv);

/* Ends the tool with status 2 and a message about the option that argp reads at STATE: FORMAT tells what is wrong.
 * For an option of a settings file the message names the file and the line. */
void option_error(const struct argp_state *state, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

#endif
