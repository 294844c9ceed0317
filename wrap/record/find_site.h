/* find_site.h - finds the call site of a stack that was not recognized. */
#ifndef LEAKWRAP_FIND_SITE_H
#define LEAKWRAP_FIND_SITE_H

#include <stdint.h>

#include "wrap/arch/arch.h"

/* Walks the stack of CALLER, which the stack cache did not recognize.  Returns its call site, or
 * LEAKWRAP_SITE_LOST if no memory or no number is left.  Signal-safe. */
uint32_t leakwrap_find_site_by_walk(const struct leakwrap_caller *caller);

#endif
