/* option_table.h - reads the user's options. */
#ifndef LEAKWRAP_OPTION_TABLE_H
#define LEAKWRAP_OPTION_TABLE_H

/* The options that the link gave (wrap/generator/generate.sh), in the notation of
 * LEAKWRAP_OPTIONS.  Its address is NULL if the link gave none. */
extern const char *const leakwrap_link_options __attribute__((weak));

/* Fills leakwrap_options (options.h).  Writes complaints, and the table of options for help=1, to
 * standard error.  Called once, at start. */
void leakwrap_options_read(void);

/* Fills leakwrap_options for a tracer that leaves everything to another tracer: it records nothing,
 * writes no dumps and takes no signal.  Called in the place of leakwrap_options_read. */
void leakwrap_options_stand_aside(void);

#endif
