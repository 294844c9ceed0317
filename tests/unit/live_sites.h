/* live_sites.h - a made-up live table: the call sites of the live blocks.  The unit's program
 * includes it once. */
#ifndef LIVE_SITES_H
#define LIVE_SITES_H

#include "wrap/live/live.h"

#include <stdint.h>

enum { BLOCKS = 1000 };

static uint32_t live[BLOCKS];

void leakwrap_live_each(void (*visit)(void *context, const struct leakwrap_live_block *block),
                        void *context)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		const struct leakwrap_live_block block = {1, 1, live[i]};

		if (block.site != LEAKWRAP_SITE_NONE)
			visit(context, &block);
	}
}

#endif
