/* find_site.h - the call site of an allocation whose stack the fast path does not recognize. */
#ifndef LEAKWRAP_FIND_SITE_H
#define LEAKWRAP_FIND_SITE_H

#include <stdint.h>

#include "wrap/arch/arch.h"

/* Finds or adds the call site of an allocation by CALLER, in the stack cache or by a walk.  BLOCK
 * and the result: as of leakwrap_stack_site (stack_site.h).  Signal-safe. */
uint32_t leakwrap_find_site(const struct leakwrap_caller *caller, const void *block);

#endif
