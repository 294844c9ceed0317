/* askers.h - which function asked for a block: the innermost that is no allocation wrapper.
 *
 * A wrapper passes requests of its callers on to malloc: xmalloc, zmalloc, operator new of a
 * library, the allocator of std::vector.  In a program with wrappers all stacks begin alike, and
 * the function that asked stands a few frames further out.
 */
#ifndef TOOLS_MODEL_ASKERS_H
#define TOOLS_MODEL_ASKERS_H

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

/* Sets the frame that asked in each stack of REPORT.  Call it after symbolize.
 *
 * Passes over these frames, from the innermost one on:
 * - functions of the libraries of C++ and Rust;
 * - functions whose names end like those of malloc's family (xmalloc, my_strdup);
 * - functions with such a word or "alloc" in their names, if two functions call them, or if a
 *   function with such a name does; with a word of the family also if they call a wrapper;
 * - functions with at least eight callers that allocate at one or two places, if no function that
 *   they call asks elsewhere;
 * - what SKIPS names.
 *
 * If no frame is left, main or the first function of the thread asked.
 */
void find_askers(struct report *report, const struct skips *skips);

void skips_free(struct skips *skips);

#endif
