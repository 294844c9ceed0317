/* modules.c - see modules.h. */
#include "tools/image/modules.h"

#include <stdlib.h>

#include "tools/base/binary_search.h"
#include "tools/elf/headers.h"

static int compare_modules(const void *left, const void *right)
{
	const struct image_module *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Adds what the segments of MODULE's file hold to IMAGE, for where it has nothing. */
static void back_module(struct image *image, const struct image_module *module)
{
	GElf_Phdr segment;
	size_t at = 0, size;
	const char *bytes = elf_rawfile(module->file.elf, &size);

	while (bytes && next_segment(module->file.elf, &at, PT_LOAD, &segment))
		if (!(segment.p_flags & PF_W) && segment.p_offset <= size &&
		    segment.p_filesz <= size - segment.p_offset)
			image_back(image, segment.p_vaddr + module->mapping->bias,
			           (const unsigned char *)bytes + segment.p_offset,
			           segment.p_filesz, segment.p_flags & PF_X);
}

/* Without an operating system, a dump has the bounds of a module's code alone.  Extends MODULE to
 * all its segments, and takes the machine from its file. */
static void cover_segments(struct image *image, struct image_module *module)
{
	GElf_Phdr segment;
	size_t at = 0;

	if (!module->file.elf)
		return;
	image->machine = module->file.machine;
	image->word = module->file.word;
	while (next_segment(module->file.elf, &at, PT_LOAD, &segment)) {
		if (segment.p_memsz > UINT64_MAX - segment.p_vaddr)
			continue;
		if (segment.p_vaddr < module->start)
			module->start = segment.p_vaddr;
		if (segment.p_vaddr + segment.p_memsz > module->end)
			module->end = segment.p_vaddr + segment.p_memsz;
	}
}

struct image_modules image_modules_open(struct image *image, const struct dump *dump,
                                        const struct search *search)
{
	struct image_modules modules = {0};

	modules.all = xzalloc((dump->mapping_count + 1) * sizeof *modules.all);
	for (size_t i = 0; i < dump->mapping_count; i++)
		if (dump->mappings[i].start < dump->mappings[i].end)
			modules.all[modules.count++] = (struct image_module){
			        .mapping = &dump->mappings[i],
			        .start = dump->mappings[i].start,
			        .end = dump->mappings[i].end,
			};
	if (modules.count > 0)
		qsort(modules.all, modules.count, sizeof *modules.all, compare_modules);
	for (size_t i = 0; i < modules.count; i++) {
		/* A copy: the symbolizer tells what it finds of the module itself. */
		struct module copy = *modules.all[i].mapping->module;
		modules.all[i].file = elf_file_open(&modules.arena, &copy, search);
		if (modules.all[i].file.dwfl)
			back_module(image, &modules.all[i]);
		if (!image->is_core)
			cover_segments(image, &modules.all[i]);
	}
	return modules;
}

void image_modules_close(struct image_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		free(modules->all[i].variables);
		elf_file_close(&modules->all[i].file);
	}
	free(modules->all);
	arena_free(&modules->arena);
	*modules = (struct image_modules){0};
}

struct image_module *image_module_at(const struct image_modules *modules, uint64_t address)
{
	size_t behind;
	BINARY_SEARCH(behind, modules->count, modules->all[behind].start <= address);
	return behind > 0 && address < modules->all[behind - 1].end ? &modules->all[behind - 1]
	                                                            : NULL;
}

/* -- variables --------------------------------------------------------------------------------- */

/* A variable that lies in another comes later. */
static int compare_variables(const void *left, const void *right)
{
	const struct image_variable *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

static void read_variables(struct image_module *module)
{
	const uint64_t bias = module->mapping->bias;
	const int count = module->file.dwfl ? dwfl_module_getsymtab(module->file.mod) : 0;

	module->has_variables = true;
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr start;
		GElf_Word section;
		const char *name = dwfl_module_getsym_info(module->file.mod, i, &symbol, &start,
		                                           &section, NULL, NULL);
		if (!name || !*name || section == SHN_UNDEF || symbol.st_size == 0 ||
		    GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
			continue;
		GROW(module->variables, module->variable_room, module->variable_count + 1);
		module->variables[module->variable_count++] =
		        (struct image_variable){start + bias, start + bias + symbol.st_size, name};
	}
	if (module->variable_count > 0)
		qsort(module->variables, module->variable_count, sizeof *module->variables,
		      compare_variables);
}

/* How many variables before an address are looked at: a variable may lie inside another. */
enum { NESTED_MAX = 8 };

/* Returns the index of the first variable of MODULE that starts behind ADDRESS. */
static size_t first_variable_behind(struct image_module *module, uint64_t address)
{
	size_t at;

	if (!module->has_variables)
		read_variables(module);
	BINARY_SEARCH(at, module->variable_count, module->variables[at].start <= address);
	return at;
}

bool image_has_variable(struct image_module *module, uint64_t start, uint64_t end)
{
	const size_t behind = first_variable_behind(module, start);
	return image_variable_at(module, start) ||
	       (behind < module->variable_count && module->variables[behind].start < end);
}

const struct image_variable *image_variable_at(struct image_module *module, uint64_t address)
{
	size_t low = first_variable_behind(module, address);

	for (size_t back = 0; low > 0 && back < NESTED_MAX; low--, back++)
		if (address < module->variables[low - 1].end)
			return &module->variables[low - 1];
	return NULL;
}
