/* code.h - the code of a linked program. */
#ifndef TOOLS_ELF_CODE_H
#define TOOLS_ELF_CODE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code of a section. */
struct code {
	uint64_t address;
	const unsigned char *bytes;
	size_t size;
	unsigned entry; /* size of an entry, of a linkage table */
};

/* Calls VISIT for each section of code.  With PLT only for linkage tables, without it only for
 * other code. */
void each_code(Elf *elf, bool plt, void (*visit)(void *, const struct code *), void *context);

/* Returns the size of the veneer at the byte AT of CODE, or 0, and sets *TO to where it leads. */
size_t find_veneer(int machine, const struct code *code, size_t at, uint64_t *to);

#endif
