/* epilogue.h - finds the rule of a frame in the code that takes the frame down.
 *
 * For code without an unwind table, and for return addresses that are not in the rule cache.  May
 * run in signal handlers.  Takes no lock and allocates nothing.
 */
#ifndef LEAKWRAP_EPILOGUE_H
#define LEAKWRAP_EPILOGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"
#include "wrap/unwind/rule_cache.h"

/* Finds the rule of the frame at PC by following the code from PC to a return, where the function
 * takes its frame down.  PC is a return address, or, if INTERRUPTED, the address at which a signal
 * arrived.  CODE bounds what is read.  Returns false if no path leads to a return, as behind a call
 * that never returns; then *RULE may hold anything. */
bool leakwrap_find_epilogue_rule(const struct leakwrap_code *code, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule);

#endif
