/* find_rule.h - finds the rule of a frame: in the unwind tables, in the code, or by the stack.
 *
 * The walk calls these functions where the rule cache does not hold a rule that fits.  They may run
 * in signal handlers.  They take no lock and allocate nothing.
 */
#ifndef LEAKWRAP_FIND_RULE_H
#define LEAKWRAP_FIND_RULE_H

#include <stdbool.h>

#include "wrap/unwind/frame.h"

/* Finds the rule for FRAME without searching the stack.  Stores it in *RULE.  HAS_CALLEE: the walk
 * came here from another frame.  Sets *KEEP to true, or to false if the rule must not be cached: it
 * depends on this stack.  Returns false if pc lies in no code: neither in a module's nor in code to
 * which signal handlers return, nor behind a call in code that was generated at run time. */
bool leakwrap_find_rule(const struct leakwrap_frame *frame, bool has_callee,
                        struct leakwrap_rule *rule, bool *keep);

/* Makes the rule of an interrupted function that has its return address in lr.  Code without a
 * table is mostly assembly that calls nothing and keeps the return address there.  Returns false if
 * lr holds no return address. */
bool leakwrap_find_leaf_rule(const struct leakwrap_frame *frame, struct leakwrap_rule *rule);

/* Finds the rule of FRAME by the stack, where neither tables nor code give a rule.  BY_POINTERS: as
 * of leakwrap_scan_stack (stack_scan.h).  Returns false if there is no rule.  Sets *ALL to true if
 * the whole stack was searched. */
bool leakwrap_find_rule_on_stack(const struct leakwrap_frame *frame, bool by_pointers,
                                 struct leakwrap_rule *rule, bool *all);

#endif
