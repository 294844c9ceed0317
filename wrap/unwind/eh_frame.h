/* eh_frame.h - call frame information: from .eh_frame to an unwind rule.
 *
 * Reads the tables that compilers write for exceptions (DWARF 5, section 6.4; LSB 5.0 core,
 * sections 10.5 and 10.6: .eh_frame, .eh_frame_hdr).  It never allocates.  It never reads outside
 * the given range, whatever the tables contain.  Called for each return address that the rule cache
 * does not hold; may run in signal handlers.
 */
#ifndef LEAKWRAP_EH_FRAME_H
#define LEAKWRAP_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/unwind/rule_cache.h"

/* The tables of a module, in memory. */
struct leakwrap_cfi {
	const uint8_t *header;     /* .eh_frame_hdr */
	size_t header_size;        /* in bytes */
	const uint8_t *low, *high; /* the readable range: its first byte, and behind its last one */
};

/* Stores in *RULE the unwind rule for the code at PC.  PC is a return address, or, if INTERRUPTED,
 * the address at which a signal interrupted its function.  Returns false if the tables do not cover
 * PC, are damaged, or describe a frame that a rule cannot express. */
bool leakwrap_cfi_rule(const struct leakwrap_cfi *tables, uintptr_t pc, bool interrupted,
                       struct leakwrap_rule *rule);

#endif
