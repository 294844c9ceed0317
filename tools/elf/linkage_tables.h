/* linkage_tables.h - what leads to functions in a linked program: the slots that hold their
 * addresses (the GOT), the entries of the procedure linkage table, and veneers. */
#ifndef TOOLS_ELF_LINKAGE_TABLES_H
#define TOOLS_ELF_LINKAGE_TABLES_H

#include <gelf.h>

#include "tools/elf/targets.h"

/* Adds to TARGETS the slots that already hold a target, the entries of linkage tables that go
 * through slots among TARGETS, and veneers.  MACHINE: EM_… */
void linkage_tables_add(Elf *elf, int machine, struct targets *targets);

/* Returns the address to which position-independent code of i386 is relative: .got.plt, or .got if
 * mold puts it there or there is no other. */
uint64_t got_address(Elf *elf);

#endif
