/* eh_frame.h - call frame information: from .eh_frame to an unwind rule.
 *
 * Reads the tables that compilers write for exceptions (DWARF 5, section 6.4; LSB 5.0 core,
 * sections 10.5 and 10.6: .eh_frame, .eh_frame_hdr).  It never allocates.  It never reads outside
 * the given range, whatever the tables contain.  Called for each return address that the rule cache
 * does not hold; may run in signal handlers.
 *
 * Only for architectures whose compilers write such tables: LEAKWRAP_DWARF_SP is defined.
 */
#ifndef LEAKWRAP_EH_FRAME_H
#define LEAKWRAP_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/unwind/fde.h"
#include "wrap/unwind/rule_cache.h"

/* Stores in *RULE the unwind rule for the code at PC.  PC is a return address, or, if INTERRUPTED,
 * the address at which a signal interrupted its function.  Returns false if the tables do not cover
 * PC, are damaged, or describe a frame that a rule cannot express. */
bool leakwrap_find_eh_frame_rule(const struct leakwrap_cfi *tables, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule);

#endif
