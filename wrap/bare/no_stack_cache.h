/* no_stack_cache.h - stands in for the stack cache: every stack is walked.  wrap/site/stack_cache.h
 * includes this file instead of its own declarations. */
#ifndef LEAKWRAP_NO_STACK_CACHE_H
#define LEAKWRAP_NO_STACK_CACHE_H

#include "wrap/base/common.h"
#include "wrap/site/site_table.h"

/* Returns LEAKWRAP_SITE_NONE: no stack is in the cache. */
LEAKWRAP_INLINE uint32_t leakwrap_stack_cache_find(uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	(void)pc, (void)sp, (void)fp;
	return LEAKWRAP_SITE_NONE;
}

#endif
