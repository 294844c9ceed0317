/* lines.h - the DWARF of a module: functions, inlined functions, files and lines of addresses.
 *
 * For each address libdw searches a whole unit, and needs .debug_aranges, which clang does not
 * write.  Here the ranges of units are sorted once for a module, and the functions once for a unit.
 */
#ifndef TOOLS_SYMBOLIZE_LINES_H
#define TOOLS_SYMBOLIZE_LINES_H

#include "tools/symbolize/elf_file.h"

struct lines;

/* Reads FILE, which must outlive the result.  Returns NULL if it has no DWARF. */
struct lines *lines_read(const struct elf_file *file);
void lines_free(struct lines *lines);

/* A function at an address. */
struct line_frame {
	const char *name; /* for the linker, or else the plain name; or NULL */
	const char *file; /* or NULL; of libdw or the arena */
	unsigned line;    /* or 0 */
};

enum { LINE_FRAMES_MAX = 64 };

/* Fills FRAMES, innermost first.  Returns their number, 0 if nothing is known of ADDRESS.  *UNIT is
 * the source file of the unit, or NULL. */
unsigned lines_find(struct lines *lines, uint64_t address, struct arena *arena,
                    struct line_frame frames[LINE_FRAMES_MAX], const char **unit);

/* Returns why LINES, of FILE, lack something that addresses looked up so far needed, and what they
 * lack.  LINES may be NULL.  Returns NULL if they lack nothing.  The text is of ARENA. */
const char *lines_why_lacking(const struct lines *lines, const struct elf_file *file,
                              struct arena *arena);

#endif
