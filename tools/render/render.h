/* render.h - the last stage: one file for each format (render_NAME.c).
 *
 * A renderer reads the model and does not change it.  It writes to STREAM.  The caller checks
 * STREAM for errors.
 */
#ifndef TOOLS_RENDER_RENDER_H
#define TOOLS_RENDER_RENDER_H

#include "tools/model/compare.h"
#include "tools/model/view.h"

/* What a command has found out.  At least one of DUMPS, CHANGES and GROWTHS is there. */
struct answer {
	struct report *report;
	const struct dump_list *dumps; /* or NULL */
	const struct dump *merged;     /* the last dumps of all processes, added up, or NULL */
	bool merged_first;  /* the page shows MERGED until the reader chooses another dump */
	enum group_kind by; /* how DUMPS are summed up */
	const struct changes *changes; /* or NULL */
	const struct growths *growths; /* or NULL */
	/* For text: */
	unsigned top;    /* the greatest number of call sites of a dump; 0 is all */
	bool all_frames; /* show frames of wrappers and frames beyond main, too */
	/* For pprof: */
	bool shows_allocated; /* viewers show what was allocated first; dumps must say it */
	bool addresses_only;  /* no functions and lines: the reader symbolizes */
	double seconds;       /* over which CHANGES came; 0: not told */
	/* For the page: the seconds after which it asks for "data.json" again; 0: never. */
	unsigned live_seconds;
};

/* How text looks. */
struct style {
	bool color;
	unsigned width; /* columns of the terminal; 0 if there is no terminal */
};

/* Write ANSWER to STREAM.  folded and pprof add up all dumps, so DUMPS holds at most one of each
 * process. */
void render_text(FILE *stream, const struct answer *answer, const struct style *style);
void render_json(FILE *stream, const struct answer *answer);
void render_folded(FILE *stream, const struct answer *answer);
void render_pprof(FILE *stream, const struct answer *answer);
void render_html(FILE *stream, const struct answer *answer);

/* Writes the data of the page alone, as JSON. */
void render_page_data(FILE *stream, const struct answer *answer);

/* Writes the heap profile of gperftools, which Go's /debug/pprof/heap?debug=1 writes too. */
void render_heap_text(FILE *stream, const struct answer *answer);

#endif
