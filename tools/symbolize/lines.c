/* lines.c - see lines.h. */
#include "tools/symbolize/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/binary_search.h"
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/elf/headers.h"

/* An address range of entry INDEX of an array. */
struct range {
	uint64_t low, high;
	uint64_t reach; /* the highest HIGH up to this range: a search backwards stops there */
	size_t index;
};

struct ranges {
	struct range *all;
	size_t count, room;
};

struct unit {
	Dwarf_Die die;       /* has the line table */
	Dwarf_Die tree;      /* has the functions; in split DWARF it is not DIE */
	const char *missing; /* the file that has TREE, if libdw did not read it; or NULL */
	bool indexed;
	struct ranges ranges; /* of FUNCTIONS */
	Dwarf_Die *functions;
	size_t function_count, function_room;
};

struct lines {
	uint64_t bias; /* DWARF addresses less those of the file */
	struct unit *units;
	size_t unit_count, unit_room;
	struct ranges ranges;       /* of UNITS */
	const struct unit *missing; /* one that addresses needed, without its TREE; or NULL */
};

/* -- ranges ------------------------------------------------------------------------------------ */

/* Adds the ranges of DIE.  Returns false if it has none.  Functions that the linker dropped
 * (--gc-sections) are at address 0.  They are left out: they would cover code without DWARF. */
static bool add_ranges(struct ranges *ranges, Dwarf_Die *die, size_t index)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	bool any = false;

	while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
		if (low == 0 || low >= high)
			continue;
		GROW(ranges->all, ranges->room, ranges->count + 1);
		ranges->all[ranges->count++] = (struct range){low, high, 0, index};
		any = true;
	}
	return any;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high
		               ? -1
		               : 1; /* the narrower range comes last, and is found first */
	return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_ranges(struct ranges *ranges)
{
	uint64_t reach = 0;
	if (ranges->count)
		qsort(ranges->all, ranges->count, sizeof *ranges->all, compare_ranges);
	for (size_t i = 0; i < ranges->count; i++) {
		if (ranges->all[i].high > reach)
			reach = ranges->all[i].high;
		ranges->all[i].reach = reach;
	}
}

/* Returns the innermost range that holds ADDRESS, or NULL. */
static const struct range *find_range(const struct ranges *ranges, uint64_t address)
{
	size_t behind;
	BINARY_SEARCH(behind, ranges->count, ranges->all[behind].low <= address);
	for (; behind > 0 && ranges->all[behind - 1].reach > address; behind--)
		if (address < ranges->all[behind - 1].high)
			return &ranges->all[behind - 1];
	return NULL;
}

/* -- functions --------------------------------------------------------------------------------- */

enum { NESTING_MAX = 64 }; /* compilers write no deeper trees */

/* Adds the functions among the children of DIE. */
static void index_functions(struct unit *unit, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;
	if (depth > NESTING_MAX || dwarf_child(die, &child) != 0)
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (add_ranges(&unit->ranges, &child, unit->function_count)) {
				GROW(unit->functions, unit->function_room,
				     unit->function_count + 1);
				unit->functions[unit->function_count++] = child;
			}
			index_functions(unit, &child, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_lexical_block:
			index_functions(unit, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void index_unit(struct unit *unit)
{
	if (unit->indexed)
		return;
	unit->indexed = true;
	index_functions(unit, &unit->tree, 0);
	sort_ranges(&unit->ranges);
}

/* Returns the name of the file with the functions of the skeleton unit DIE, or NULL. */
static const char *split_name(Dwarf_Die *die)
{
	Dwarf_Attribute memory;
	Dwarf_Attribute *attribute = dwarf_attr(die, DW_AT_dwo_name, &memory);
	if (!attribute)
		attribute = dwarf_attr(die, DW_AT_GNU_dwo_name, &memory);
	return attribute ? dwarf_formstring(attribute) : NULL;
}

struct lines *lines_read(const struct elf_file *file)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(file->mod, &bias);
	if (!dwarf)
		return NULL;

	struct lines *lines = xzalloc(sizeof *lines);
	Dwarf_CU *cu = NULL;
	uint8_t type;
	Dwarf_Die die, split;
	lines->bias = bias;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
		if (type == DW_UT_type || type == DW_UT_partial)
			continue;
		size_t index = lines->unit_count;
		GROW(lines->units, lines->unit_room, index + 1);
		struct unit *unit = &lines->units[lines->unit_count++];
		*unit = (struct unit){.die = die, .tree = die};
		if (type == DW_UT_skeleton && split.addr)
			unit->tree = split;
		else if (type == DW_UT_skeleton)
			unit->missing = split_name(&die);
		if (add_ranges(&lines->ranges, &die, index))
			continue;
		/* A unit without ranges has those of its functions. */
		index_unit(unit);
		for (size_t i = 0; i < unit->ranges.count; i++) {
			GROW(lines->ranges.all, lines->ranges.room, lines->ranges.count + 1);
			lines->ranges.all[lines->ranges.count] = unit->ranges.all[i];
			lines->ranges.all[lines->ranges.count++].index = index;
		}
	}
	sort_ranges(&lines->ranges);
	return lines;
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->unit_count; i++) {
		free(lines->units[i].functions);
		free(lines->units[i].ranges.all);
	}
	free(lines->units);
	free(lines->ranges.all);
	free(lines);
}

/* -- look-up ----------------------------------------------------------------------------------- */

static void set_name(Dwarf_Die *die, struct line_frame *frame)
{
	Dwarf_Attribute memory;
	Dwarf_Attribute *attribute = dwarf_attr_integrate(die, DW_AT_linkage_name, &memory);
	if (!attribute)
		attribute = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &memory);
	frame->name = attribute ? dwarf_formstring(attribute) : NULL;
	if (!frame->name)
		frame->name = dwarf_diename(die);
}

/* Returns FILE as an absolute path, by the folder that the compiler ran in.  If that folder is not
 * absolute (-ffile-prefix-map), libdw has put it before FILE already. */
static const char *absolute(Dwarf_Die *unit, const char *file, struct arena *arena)
{
	Dwarf_Attribute memory;
	if (!file || file[0] == '/')
		return file;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &memory));
	size_t length = folder ? strlen(folder) : 0;
	if (length == 0 || (strncmp(file, folder, length) == 0 && file[length] == '/'))
		return file;
	return arena_format(arena, "%s/%s", folder, file);
}

static unsigned number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute memory;
	Dwarf_Word value;
	if (dwarf_formudata(dwarf_attr(die, name, &memory), &value) != 0 || value > UINT32_MAX)
		return 0;
	return (unsigned)value;
}

/* Sets the file and line from which the inlined function DIE is called. */
static void set_call(struct unit *unit, Dwarf_Die *die, struct arena *arena,
                     struct line_frame *frame)
{
	Dwarf_Files *files;
	size_t count;
	unsigned file = number_of(die, DW_AT_call_file);

	frame->line = number_of(die, DW_AT_call_line);
	if (dwarf_getsrcfiles(&unit->tree, &files, &count) != 0 &&
	    dwarf_getsrcfiles(&unit->die, &files, &count) != 0)
		return;
	if (dwarf_hasattr(die, DW_AT_call_file) && file < count)
		frame->file = absolute(&unit->die, dwarf_filesrc(files, file, NULL, NULL), arena);
}

/* Finds the child of DIE, inlined or a block, that ADDRESS lies in.  Returns false if there is
 * none. */
static bool inner_scope(Dwarf_Die *die, uint64_t address, Dwarf_Die *child)
{
	if (dwarf_child(die, child) != 0)
		return false;
	do {
		switch (dwarf_tag(child)) {
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			if (dwarf_haspc(child, address) > 0)
				return true;
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(child, child) == 0);
	return false;
}

unsigned lines_find(struct lines *lines, uint64_t address, struct arena *arena,
                    struct line_frame frames[LINE_FRAMES_MAX], const char **unit_name)
{
	address -= lines->bias;
	*unit_name = NULL;
	const struct range *found = find_range(&lines->ranges, address);
	if (!found)
		return 0;
	struct unit *unit = &lines->units[found->index];
	*unit_name = dwarf_diename(&unit->tree);
	if (!lines->missing && unit->missing)
		lines->missing = unit;
	index_unit(unit);

	struct line_frame here = {0};
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	if (line) {
		int number = 0;
		here.file = absolute(&unit->die, dwarf_linesrc(line, NULL, NULL), arena);
		dwarf_lineno(line, &number);
		here.line = number > 0 ? (unsigned)number : 0;
	}

	found = find_range(&unit->ranges, address);
	if (!found) {
		frames[0] = here;
		return here.file ? 1 : 0;
	}
	/* The array is filled from the function inwards, and reversed at the end. */
	Dwarf_Die scope = unit->functions[found->index], inner;
	unsigned count = 0;
	frames[count] = (struct line_frame){0};
	set_name(&scope, &frames[count++]);
	for (unsigned depth = 0; depth < 4 * NESTING_MAX && inner_scope(&scope, address, &inner);
	     depth++) {
		scope = inner;
		if (dwarf_tag(&scope) != DW_TAG_inlined_subroutine || count == LINE_FRAMES_MAX)
			continue;
		set_call(unit, &scope, arena, &frames[count - 1]);
		frames[count] = (struct line_frame){0};
		set_name(&scope, &frames[count++]);
	}
	frames[count - 1].file = here.file;
	frames[count - 1].line = here.line;
	for (unsigned i = 0, j = count - 1; i < j; i++, j--) {
		struct line_frame swap = frames[i];
		frames[i] = frames[j];
		frames[j] = swap;
	}
	return count;
}

/* -- what is lacking --------------------------------------------------------------------------- */

/* Returns true if the file with the functions of UNIT, of FILE, is where libdw looks for it: where
 * the compiler wrote it, or beside the program's file. */
static bool split_is_there(const struct unit *unit, const struct elf_file *file,
                           struct arena *arena)
{
	const char *program = NULL;
	Dwarf_Die die = unit->die;

	dwfl_module_info(file->mod, NULL, NULL, NULL, NULL, NULL, &program, NULL);
	if (access(absolute(&die, unit->missing, arena), R_OK) == 0)
		return true;
	return program && access(arena_format(arena, "%.*s%s", (int)(base_name(program) - program),
	                                      program, base_name(unit->missing)),
	                         R_OK) == 0;
}

/* Returns true if FILE has compressed sections: only those of debug information are. */
static bool is_compressed(const struct elf_file *file)
{
	GElf_Shdr header;

	for (Elf_Scn *scn = NULL; (scn = next_section(file->elf, scn, &header)) != NULL;)
		if (header.sh_flags & SHF_COMPRESSED)
			return true;
	return false;
}

const char *lines_why_lacking(const struct lines *lines, const struct elf_file *file,
                              struct arena *arena)
{
	const struct unit *unit = lines ? lines->missing : NULL;

	if (unit)
		return arena_format(
		        arena, "(%s %s): inlined functions are not shown", unit->missing,
		        split_is_there(unit, file, arena) ? "cannot be read" : "was not found");
	if ((!lines || lines->unit_count == 0) && is_compressed(file))
		return "(compressed in a way that this elfutils cannot read): lines are not shown; "
		       "objcopy --decompress-debug-sections makes them readable";
	return NULL;
}
