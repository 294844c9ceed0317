/* demangle.h - mangled names of C++, Rust and D as the source has them.
 *
 * A few hundred bytes of a mangled name can stand for gigabytes, or take the demangler years: each
 * type of it may hold the type before it twice.  So a child process demangles, within limits of
 * time and length.  A name beyond these limits is shown as it is.
 *
 * If the tool is built without libiberty, names of Rust and D are not known.
 */
#ifndef TOOLS_SYMBOLIZE_DEMANGLE_H
#define TOOLS_SYMBOLIZE_DEMANGLE_H

#include <stddef.h>
#include <sys/types.h>

#include "tools/base/table.h"

struct demangler {
	struct strings *strings; /* set by the caller, who owns it: holds the names */
	/* The rest is demangle.c's, and 0 at first. */
	struct table known; /* names that were demangled */
	pid_t child;        /* 0: none runs */
	int socket;         /* to the child */
	unsigned timeouts;  /* children that ran out of time */
	size_t refused;     /* names beyond the limits */
	char *reply;
};

/* Returns the name of C++, Rust or D that NAME stands for.  A name of Rust is without its hash.
 * Returns NAME itself if it is no mangled name or is beyond the limits, and NULL for NULL.  The
 * string is one of DEMANGLER's strings. */
const char *demangle(struct demangler *demangler, const char *name);

/* Ends the child, frees all but the strings, and says how many names were beyond the limits. */
void demangler_stop(struct demangler *demangler);

#endif
