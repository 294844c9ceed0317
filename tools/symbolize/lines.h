/* lines.h - a module's DWARF: which function, inlined functions, file and line an address belongs to.
 *
 * libdw's own look-ups walk a whole unit for each address and need .debug_aranges, which clang does not
 * write; here the units' ranges are sorted once per module and the functions once per unit that is used.
 */
#ifndef TOOLS_LINES_H
#define TOOLS_LINES_H

#include "tools/symbolize/elf_file.h"

struct lines;

/* NULL when the module has no DWARF. */
struct lines *lines_read(const struct elf_file *file);
void lines_free(struct lines *lines);

/* One level of an address: NAME is what the linker knows the function by (MANGLED) or its plain name. */
struct line_frame {
	const char *name; /* or NULL */
	const char *file; /* or NULL; belongs to libdw, or to the arena given */
	unsigned line;    /* or 0 */
	bool mangled;
};

enum { LINE_FRAMES_MAX = 64 };

/* Fills FRAMES, innermost first, and returns how many there are, 0 when nothing is known of ADDRESS.
 * UNIT receives the source file of the unit, or NULL. */
unsigned lines_find(struct lines *lines, uint64_t address, struct arena *arena,
                    struct line_frame frames[LINE_FRAMES_MAX], const char **unit);

#endif
