/* render.h - the last stage: one file for each format (render_NAME.c).
 *
 * A renderer only reads the model.  It writes to STREAM; whoever opened that checks for errors.
 */
#ifndef TOOLS_RENDER_H
#define TOOLS_RENDER_H

#include "tools/model/compare.h"
#include "tools/model/view.h"

/* What a command has found out; one of the three parts is there. */
struct answer {
	struct report *report;
	const struct dump_list *dumps; /* or NULL */
	const struct dump *merged;     /* the last dumps of all processes, added up, or NULL */
	bool merged_first;             /* the page shows MERGED until another dump is chosen */
	enum group_kind by;            /* how to sum up DUMPS */
	const struct changes *changes; /* or NULL */
	const struct growths *growths; /* or NULL */
	/* For text: */
	unsigned top;    /* most call sites of each dump; 0: all */
	bool all_frames; /* also of wrappers, and beyond main */
};

/* How text looks. */
struct style {
	bool color;
	unsigned width; /* of the terminal, 0 when there is none */
};

void render_text(FILE *stream, const struct answer *answer, const struct style *style);
void render_json(FILE *stream, const struct answer *answer);
void render_folded(FILE *stream, const struct answer *answer);
void render_pprof(FILE *stream, const struct answer *answer);
void render_html(FILE *stream, const struct answer *answer);

#endif
