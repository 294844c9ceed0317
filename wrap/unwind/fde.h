/* fde.h - finds the frame description entry (FDE) of an address, with its common information entry
 * (CIE).
 *
 * Reads .eh_frame_hdr and .eh_frame (LSB 5.0 core, sections 10.5 and 10.6; DWARF 5, section 6.4.1).
 * Never allocates and never reads outside of the tables.  May run in signal handlers.
 */
#ifndef LEAKWRAP_FDE_H
#define LEAKWRAP_FDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/unwind/dwarf_reader.h"

/* The tables of a module, in memory. */
struct leakwrap_cfi {
	const uint8_t *header;     /* .eh_frame_hdr */
	size_t header_size;        /* in bytes */
	const uint8_t *low, *high; /* the readable range: its first byte, and behind its last one */
};

/* What the CIE says for all its FDEs. */
struct leakwrap_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_register;
	uint8_t encoding; /* of the pointers in its FDEs */
	bool augmented;   /* its FDEs have augmentation data */
	bool signal_frame;
	struct leakwrap_cursor program; /* its call frame instructions */
};

/* A range of code, and the program that describes its frames. */
struct leakwrap_fde {
	struct leakwrap_cie cie;
	uintptr_t start;                /* of the code */
	struct leakwrap_cursor program; /* its call frame instructions */
};

/* Finds the entries for the code at CODE.  Stores them in *FDE.  Returns false if TABLES do not
 * cover CODE or are damaged. */
bool leakwrap_find_fde(const struct leakwrap_cfi *tables, uintptr_t code, struct leakwrap_fde *fde);

#endif
