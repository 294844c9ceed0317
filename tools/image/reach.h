/* reach.h - tells lost memory from reachable memory in an image, for a dump of the same moment that
 * lists its blocks.
 */
#ifndef TOOLS_IMAGE_REACH_H
#define TOOLS_IMAGE_REACH_H

#include "tools/image/interior.h"
#include "tools/image/roots.h"

struct image_reach {
	struct dump *dump; /* the dump of the same moment */
	struct image image;
	struct image_modules modules;
	struct block_index index;
	struct root_search search;
	struct interior_search interior;
	struct marking marking;
};

/* Marks the blocks of DUMP in REACH, whose image the caller has read.  The rest of REACH is 0.  The
 * caller calls reach_free.  REACH must not move meanwhile. */
void reach_start(struct image_reach *reach, struct dump *dump, const struct search *search);

/* Reads the core file CORE and marks the blocks of the dump in REPORT to which it belongs: the last
 * dump of its process that lists blocks, or the one that the user has chosen.  Returns false after
 * a message if there is no such dump, or the file cannot be used.  After success the caller calls
 * reach_free.  REACH must not move meanwhile. */
bool reach_of_core(struct image_reach *reach, const char *core, const struct report *report,
                   const struct search *search);
void reach_free(struct image_reach *reach);

/* Sets the kinds of the dump and of its call sites by REACH. */
void reach_judge(const struct image_reach *reach);

#endif
