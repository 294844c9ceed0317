/* recall.h - the interface of ../recall.h, which includes this file in the place of its own, where every stack is
 * walked and none is recognized. */
#ifndef LEAKWRAP_BARE_RECALL_H
#define LEAKWRAP_BARE_RECALL_H

#include <stddef.h>

#include "common.h"
#include "sites.h"

struct leakwrap_pattern {
	uint32_t number;
};

LEAKWRAP_INLINE const struct leakwrap_pattern *leakwrap_pattern_hinted(uintptr_t pc, uintptr_t sp,
                                                                       uintptr_t fp)
{
	(void)pc, (void)sp, (void)fp;
	return NULL;
}

LEAKWRAP_INLINE uint32_t leakwrap_variant_recall(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	(void)pattern, (void)sp;
	return LEAKWRAP_SITE_NONE;
}

LEAKWRAP_INLINE uint32_t leakwrap_site_recall(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	(void)pc, (void)sp, (void)fp;
	return LEAKWRAP_SITE_NONE;
}

#endif
