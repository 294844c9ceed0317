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

/* Marks the blocks of DUMP in REACH, whose image the caller has read.  The rest of REACH is 0.
 * Marks none if the machine is not known: the image is of no core file, and the program's file is
 * not found.  The caller calls reach_free.  REACH must not move meanwhile. */
void reach_start(struct image_reach *reach, struct dump *dump, const struct search *search);

/* The files with the memory of a program. */
struct image_files {
	const char *core;    /* a core file, or NULL */
	const char **images; /* "ADDRESS:FILE": images of the RAM, if there is no core file */
	size_t image_count, image_room;
};

/* Adds IMAGE to FILES. */
void image_files_add(struct image_files *files, const char *image);

/* Reads FILES and marks the blocks of the dump in REPORT to which they belong.  It is the last dump
 * of the process that lists blocks, or the dump that the user has chosen.  Returns false after a
 * message if there is no such dump, or a file cannot be used.  After success the caller calls
 * reach_free.  REACH must not move meanwhile. */
bool reach_of_files(struct image_reach *reach, const struct image_files *files,
                    const struct report *report, const struct search *search);
void reach_free(struct image_reach *reach);

/* Sets the kinds of the dump and of its call sites by REACH. */
void reach_judge(const struct image_reach *reach);

#endif
