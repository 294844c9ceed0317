/* no_stack_cache.h - the interface of ../recall.h, which includes this file in the place of its own, where every stack is
 * walked and none is recognized. */
#ifndef LEAKWRAP_NO_STACK_CACHE_H
#define LEAKWRAP_NO_STACK_CACHE_H

#include "wrap/base/common.h"
#include "wrap/site/site_table.h"

LEAKWRAP_INLINE uint32_t leakwrap_stack_cache_find(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	(void)pc, (void)sp, (void)fp;
	return LEAKWRAP_SITE_NONE;
}

#endif
