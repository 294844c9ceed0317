/* render_why.h - writes what keeps blocks alive: the ways of pointers to them. */
#ifndef TOOLS_RENDER_RENDER_WHY_H
#define TOOLS_RENDER_RENDER_WHY_H

#include "tools/image/ways.h"
#include "tools/render/render.h"
#include "tools/symbolize/demangle.h"

/* A call site that was asked for. */
struct why_site {
	const struct site *site;
	struct ways ways;
};

struct why {
	const struct image_reach *reach;
	struct demangler *demangler;
	struct why_site *sites;
	size_t site_count;
	unsigned top;     /* in text, the most ways of a call site; 0: all */
	uint64_t content; /* how many bytes of a block are shown */
	bool all_frames;
};

/* Write WHY to STREAM.  The caller checks STREAM for errors. */
void render_why_text(FILE *stream, const struct why *why, const struct style *style);
void render_why_json(FILE *stream, const struct why *why);

#endif
