/* go_rule.h - finds the rules of Go's frames.
 *
 * Go's functions have no .eh_frame.  Go's runtime calls C on a stack of the thread, while the
 * goroutine's own stack lies elsewhere.  Walks reach Go's code behind such a call, which tells that
 * the module has Go's table (go_table.h).  May run in signal handlers and takes no lock.
 */
#ifndef LEAKWRAP_GO_RULE_H
#define LEAKWRAP_GO_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/go.h"
#include "wrap/module/module.h"
#include "wrap/unwind/rule_cache.h"

#if LEAKWRAP_HAVE_GO_STACKS

/* Stores in *RULE the rule of the frame at PC, in MODULE's text.  PC is a return address, or, if
 * INTERRUPTED, the address at which a signal arrived.  The rule is of kind NONE if it is
 * not known on which stack the frame's caller is.  Returns false if the code is not Go's. */
bool leakwrap_find_go_rule(const struct leakwrap_module *module, uintptr_t pc, bool interrupted,
                           struct leakwrap_rule *rule);

#else

static inline bool leakwrap_find_go_rule(const struct leakwrap_module *module, uintptr_t pc,
                                         bool interrupted, struct leakwrap_rule *rule)
{
	(void)module, (void)pc, (void)interrupted, (void)rule;
	return false;
}

#endif

#endif
