/* table_rule.h - finds the rule of a frame in the unwind tables of its module. */
#ifndef LEAKWRAP_TABLE_RULE_H
#define LEAKWRAP_TABLE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/module/module.h"
#include "wrap/unwind/rule_cache.h"

/* Stores in *RULE the rule that the tables of MODULE give for PC.  PC is a return address, or, if
 * INTERRUPTED, the address at which a signal interrupted its function.  Returns false if the tables
 * give none.  May run in signal handlers. */
bool leakwrap_find_table_rule(const struct leakwrap_module *module, uintptr_t pc, bool interrupted,
                              struct leakwrap_rule *rule);

#endif
