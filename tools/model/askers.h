/* askers.h - which function asked for a block: the innermost one that is no allocation wrapper.
 *
 * A wrapper passes its callers' requests on to malloc: xmalloc, zmalloc, operator new of a
 * library, std::vector's allocator.  In a program with wrappers every stack begins alike, and the
 * function that asked stands a few frames further out.
 */
#ifndef TOOLS_ASKERS_H
#define TOOLS_ASKERS_H

#include "tools/model/model.h"

/* Patterns as in suppress.h, matched against function, source file and module. */
struct patterns {
	const char **all;
	size_t count, room;
};

/* What the user said of wrappers. */
struct skips {
	struct patterns skip; /* frames that are passed over */
	struct patterns keep; /* frames that never are */
	bool none;            /* pass over nothing: the innermost frame asked */
};

/* Sets the frame that asked in each stack of REPORT; after symbolize.
 *
 * Passed over are, from the innermost frame on:
 * - functions of C++'s and Rust's libraries;
 * - functions whose names end like those of malloc's family (xmalloc, my_strdup);
 * - functions with such a word, or with "alloc", in their names, if two functions call them or
 *   one of such a name does; with such a word also if they call a wrapper;
 * - functions with at least eight callers that allocate at one or two places and do nothing else
 *   that allocates;
 * - what SKIPS names.
 * main, and the function that a thread starts with, asked if nothing else did. */
void find_askers(struct report *report, const struct skips *skips);

void skips_free(struct skips *skips);

#endif
