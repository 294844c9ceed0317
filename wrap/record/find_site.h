/* find_site.h - the call site of an allocation whose stack the fast path does not recognize. */
#ifndef LEAKWRAP_FIND_SITE_H
#define LEAKWRAP_FIND_SITE_H

#include <stdint.h>

#include "wrap/arch/arch.h"

/* Finds or adds the call site of an allocation by CALLER, in the stack cache or by a walk.  Returns
 * LEAKWRAP_SITE_LOST if no memory or no number is left.  Signal-safe. */
uint32_t leakwrap_find_site(const struct leakwrap_caller *caller);

#endif
