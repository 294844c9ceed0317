/* go_table.h - reads Go's own table of functions, which tells the size of each frame.
 *
 * Go's linker writes it into the section .gopclntab of every program.  Source: Go's
 * runtime/symtab.go (struct pcHeader, function step) and runtime/runtime2.go (struct _func).  There
 * are two formats: that of Go 1.18, and that of Go 1.20, which has the line of a function's start,
 * too.  Nothing here reads outside the given range, whatever the table contains.  All functions may
 * run in signal handlers.  They take no lock and allocate nothing.
 */
#ifndef LEAKWRAP_GO_TABLE_H
#define LEAKWRAP_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table in memory. */
struct leakwrap_go_table {
	const uint8_t *start, *end; /* from its header to the end of what may be read */
	uintptr_t text;             /* where the code that it describes begins */
	/* Offsets from START: of the list of functions, and of the programs that tell the sizes of
	 * frames.  The list has the offset of each function's struct _func from the list itself. */
	uint64_t functions, programs;
	uint64_t count; /* of functions */
	unsigned flags; /* offset of the flags in struct _func */
	unsigned unit;  /* addresses count in units of this many bytes */
};

/* What a table tells of the code at an address. */
struct leakwrap_go_frame {
	/* From sp to where sp was at the function's start, in bytes. */
	uint32_t size;
	bool is_first;   /* nothing has called the function: it is the first on its stack */
	bool changes_sp; /* it goes to another stack, and SIZE may be wrong */
};

/* The alignment of a table, in bytes. */
#define LEAKWRAP_GO_TABLE_ALIGNMENT 16u

/* Fills *TABLE from the header at START, which is aligned.  What lies in [START, END) may be read.
 * Returns false if no table begins there. */
bool leakwrap_open_go_table(const uint8_t *start, const uint8_t *end,
                            struct leakwrap_go_table *table);

/* Finds the function at the address PC, and fills *FRAME.  Returns false if TABLE does not tell. */
bool leakwrap_find_go_frame(const struct leakwrap_go_table *table, uintptr_t pc,
                            struct leakwrap_go_frame *frame);

#endif
