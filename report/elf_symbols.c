/* elf_symbols.c - see elf_symbols.h.
 *
 * The first lookup in a module makes its table: the functions' offsets, sorted, each with the index
 * of its symbol.  Tables are made by one thread at a time, and never change: so any thread may look
 * up beside a dump, without a lock. */
#include "report/elf_symbols.h"

#include "report/system_lists.h"
#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/port/port.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#ifndef STT_GNU_IFUNC /* older <elf.h> */
#define STT_GNU_IFUNC 10
#endif

struct function {
	uint32_t offset; /* bytes from the module's start */
	uint32_t symbol; /* index in the symbol table */
};

struct table {
	const struct leakwrap_module *module;
	const ElfW(Sym) * symbols;
	size_t symbol_count;
	const char *names; /* the string table of the symbols */
	size_t names_size;
	struct function *functions; /* sorted by offset */
	size_t count;               /* number of functions */
	struct leakwrap_system_lists lists;
	bool has_file; /* the program's file has been read */
	struct table *next;
};

static struct table *_Atomic tables;

static struct leakwrap_lock lock; /* held by the thread that makes a table */

/* -- the symbol tables ------------------------------------------------------------------------- */

/* Maps SIZE bytes at OFFSET of a file of FILE_SIZE bytes, read-only.  Returns NULL if the part is
 * empty or is not inside the file.  The mapping stays valid: the file of a running program cannot
 * be truncated (ETXTBSY, open(2)). */
static const void *map_part(int fd, uint64_t offset, uint64_t size, uint64_t file_size)
{
	if (offset > file_size || size > file_size - offset || size == 0)
		return NULL;
	return leakwrap_file_map(fd, offset, (size_t)size);
}

/* A program's file while it is read.  Its section headers are mapped. */
struct file {
	int fd;
	uint64_t size; /* bytes */
	const ElfW(Shdr) * sections;
	unsigned count; /* number of sections */
	unsigned names; /* index of the section that holds the sections' names */
};

static const void *map_section(const struct file *file, const ElfW(Shdr) * section)
{
	return map_part(file->fd, section->sh_offset, section->sh_size, file->size);
}

static void unmap_section(const ElfW(Shdr) * section, const void *mapped)
{
	if (mapped)
		leakwrap_file_unmap(mapped, section->sh_offset, section->sh_size);
}

/* Maps the file's symbol table and its names into TABLE.  Returns false if the file has a symbol
 * table that cannot be mapped. */
static bool find_symbols(struct table *table, const struct file *file)
{
	for (unsigned i = 0; i < file->count; i++) {
		const ElfW(Shdr) *section = &file->sections[i], *strings;
		const void *symbols, *names;

		if (section->sh_type != SHT_SYMTAB || section->sh_link >= file->count)
			continue;
		strings = &file->sections[section->sh_link];
		symbols = map_section(file, section);
		if (!symbols)
			return false;
		names = map_section(file, strings);
		if (!names) {
			unmap_section(section, symbols);
			return false;
		}
		table->symbols = symbols;
		table->symbol_count = (size_t)(section->sh_size / sizeof(ElfW(Sym)));
		table->names = names;
		table->names_size = (size_t)strings->sh_size;
		break;
	}
	return true;
}

/* Maps the file's lists of system functions into TABLE.  Returns false if the names of the
 * sections, or the lists, are there but cannot be mapped. */
static bool find_lists(struct table *table, const struct file *file)
{
	struct leakwrap_system_lists lists = {.program_is_static = true};
	const ElfW(Shdr) * strings, *found = NULL;
	const char *names;

	if (file->names >= file->count)
		return true;
	strings = &file->sections[file->names];
	names = map_section(file, strings);
	if (!names)
		return false;
	for (unsigned i = 0; i < file->count; i++) {
		const ElfW(Shdr) *section = &file->sections[i];
		const char *name = names + section->sh_name;

		if (section->sh_name >= strings->sh_size)
			continue;
		if (strcmp(name, ".interp") == 0)
			lists.program_is_static = false;
		else if (strcmp(name, LEAKWRAP_SYSTEM_SECTION) == 0 &&
		         section->sh_offset % sizeof(uint32_t) == 0)
			found = section;
	}
	unmap_section(strings, names);
	if (!found)
		return true;
	lists.words = map_section(file, found);
	lists.count = (size_t)(found->sh_size / sizeof(uint32_t));
	table->lists = lists;
	return lists.words != NULL;
}

/* Returns whether HEADER may be the ELF header of the file that MODULE was mapped from.  Most
 * programs have their header in memory; there the two are compared. */
static bool is_header_of(const struct leakwrap_module *module, const ElfW(Ehdr) * header)
{
	const void *mapped = (const void *)module->start;

	return header->e_shentsize == sizeof(ElfW(Shdr)) &&
	       (memcmp(mapped, ELFMAG, SELFMAG) != 0 ||
	        memcmp(mapped, header, sizeof(*header)) == 0);
}

/* Reads the symbols and lists of the program's file (System V ABI, chapter 4) into TABLE.  Returns
 * false if PATH is not the program's file, or if it cannot be read. */
static bool find_in_file(struct table *table, const char *path)
{
	int fd = (int)leakwrap_open(path, O_RDONLY | O_CLOEXEC, 0);
	uint64_t file_size;
	const ElfW(Ehdr) * header;
	const ElfW(Shdr) * sections;
	bool is_read = false;

	if (fd < 0)
		return false;
	file_size = leakwrap_file_size(fd);
	header = map_part(fd, 0, sizeof(*header), file_size);
	if (header && is_header_of(table->module, header)) {
		size_t size = (size_t)header->e_shnum * sizeof(*sections);

		sections = map_part(fd, header->e_shoff, size, file_size);
		if (sections) {
			const struct file file = {fd, file_size, sections, header->e_shnum,
			                          header->e_shstrndx};

			is_read = find_lists(table, &file) && find_symbols(table, &file);
			leakwrap_file_unmap(sections, header->e_shoff, size);
		}
	}
	if (header)
		leakwrap_file_unmap(header, 0, sizeof(*header));
	leakwrap_close(fd);
	return is_read;
}

/* Reads the program's file into TABLE.  Returns false if no path leads to it.  Each path can fail:
 *
 *   /proc/self/exe         is not readable after the main thread has ended by pthread_exit
 *   /proc/thread-self/exe  is not there before Linux 3.17; under qemu-user it is the emulator
 *   both                   are the loader if the loader was run as the command, with the program as
 *                          its argument
 */
static bool find_in_program_file(struct table *table)
{
	const char *const paths[] = {"/proc/thread-self/exe", "/proc/self/exe",
	                             table->module->path};

	for (unsigned i = 0; i < 3; i++)
		if (find_in_file(table, paths[i]))
			return true;
	return false;
}

/* Finds the symbols of a module in memory, by its dynamic section, and stores them in TABLE. */
static void find_in_memory(struct table *table)
{
	const struct leakwrap_dynamic dynamic = leakwrap_dynamic_read(table->module);

	table->symbols = dynamic.symbols;
	table->names = dynamic.names;
	table->names_size = dynamic.names_size;
	table->symbol_count =
	        dynamic.symbols && dynamic.names ? leakwrap_dynamic_count(&dynamic) : 0;
}

/* -- the sorted table -------------------------------------------------------------------------- */

#define RADIX_BITS 11
#define RADIX      (1u << RADIX_BITS)

/* Returns whether SYMBOL is a function that the module defines, inside its memory. */
static bool is_function(const struct table *table, const ElfW(Sym) * symbol)
{
	unsigned type = symbol->st_info & 0xf;

	/* A symbol without a size may be a label inside a function. */
	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_size != 0 && symbol->st_name < table->names_size &&
	       (symbol->st_value & ~(ElfW(Addr))1) + table->module->bias - table->module->start <
	               table->module->end - table->module->start;
}

/* Returns the bytes from the module's start to the function of SYMBOL. */
static uint32_t offset_of(const struct table *table, const ElfW(Sym) * symbol)
{
	const uintptr_t value = LEAKWRAP_SYMBOL_ADDRESS(symbol->st_value);

	return (uint32_t)(value + table->module->bias - table->module->start);
}

/* Sorts COUNT FUNCTIONS by offset with a radix sort, 11 bits at a time: a large program has a
 * million functions, and a thread waits.  SPARE has room for COUNT functions.  Three passes move
 * the functions to and fro: the result is in SPARE. */
static void sort(struct function *functions, struct function *spare, size_t count)
{
	for (unsigned shift = 0; shift < 33; shift += RADIX_BITS) {
		static LEAKWRAP_TABLE size_t position[RADIX];
		struct function *sorted = spare;
		size_t next = 0;

		memset(position, 0, sizeof(position));
		for (size_t i = 0; i < count; i++)
			position[functions[i].offset >> shift & (RADIX - 1)]++;
		for (size_t i = 0; i < RADIX; i++) {
			size_t digit_count = position[i];

			position[i] = next;
			next += digit_count;
		}
		for (size_t i = 0; i < count; i++)
			sorted[position[functions[i].offset >> shift & (RADIX - 1)]++] =
			        functions[i];
		spare = functions;
		functions = sorted;
	}
}

/* Makes the sorted functions of TABLE from its symbols.  Does nothing if there is no memory. */
static void index_functions(struct table *table)
{
	size_t count = 0;
	size_t size;
	struct function *spare;

	for (size_t i = 0; i < table->symbol_count; i++)
		count += is_function(table, &table->symbols[i]);
	size = count * sizeof(*spare);
	if (count == 0 || !(spare = leakwrap_scratch_map(size)))
		return;
	table->functions = leakwrap_pages_map(size);
	if (table->functions) {
		for (size_t i = 0; i < table->symbol_count; i++)
			if (is_function(table, &table->symbols[i]))
				spare[table->count++] = (struct function){
				        offset_of(table, &table->symbols[i]), (uint32_t)i};
		sort(spare, table->functions, count);
	}
	leakwrap_scratch_unmap(spare, size);
}

/* Reads the parts of TABLE, which no lookup finds yet, that have not been read.  At an earlier dump
 * there may have been no free descriptor, or no memory.  Returns whether it has read any. */
static bool complete(struct table *table)
{
	const struct table before = *table;

	if (table->module->is_program && !table->has_file && find_in_program_file(table)) {
		table->has_file = true;
		/* Functions that were made from .dynsym are not freed. */
		table->functions = NULL;
		table->count = 0;
	}
	if (table->symbol_count == 0 && table->module->is_permanent)
		find_in_memory(table);
	if (!table->functions)
		index_functions(table);
	return table->has_file != before.has_file || table->symbol_count != before.symbol_count ||
	       table->functions != before.functions;
}

/* Returns the table of MODULE, or NULL if it has not been made. */
static struct table *find_table(const struct leakwrap_module *module)
{
	struct table *table = atomic_load_explicit(&tables, memory_order_acquire);

	while (table && table->module != module)
		table = table->next;
	return table;
}

#define ROOM_TABLES 64 /* tables in a piece of room */

/* Room for further tables.  The first piece needs no memory of the system. */
static LEAKWRAP_TABLE struct table first_room[ROOM_TABLES];
static struct table *room = first_room;
static unsigned room_left = ROOM_TABLES;

/* Makes room for one more table.  Returns false if there is no memory.  The lock is held. */
static bool make_room(void)
{
	if (room_left == 0) {
		room = leakwrap_pages_map(ROOM_TABLES * sizeof(*room));
		room_left = room ? ROOM_TABLES : 0;
	}
	return room_left > 0;
}

/* Adds a copy of TABLE, for which make_room has made room.  Lookups find it instead of an older
 * table of its module.  Returns it.  The lock is held. */
static struct table *add_table(const struct table *table)
{
	struct table *const added = room++;

	room_left--;
	*added = *table;
	added->next = atomic_load(&tables);
	atomic_store_explicit(&tables, added, memory_order_release);
	return added;
}

void leakwrap_symbols_start(void)
{
	leakwrap_lock(&lock);
	for (struct table *table = atomic_load(&tables); table; table = table->next) {
		struct table again = *table;

		if (find_table(table->module) == table && make_room() && complete(&again))
			add_table(&again);
	}
	leakwrap_unlock(&lock);
}

void leakwrap_symbols_reset_in_child(void)
{
	lock = (struct leakwrap_lock){.word = 0};
}

/* Returns the table of MODULE.  Makes the table when MODULE is looked up for the first time.
 * Returns NULL if there is no memory, or if the module may be unloaded: then the functions of
 * MODULE have no names. */
static struct table *table_of(const struct leakwrap_module *module)
{
	struct table *table = find_table(module);

	if (table || !(module->is_program || module->is_permanent))
		return table;
	leakwrap_lock(&lock);
	table = find_table(module);
	if (!table && make_room()) {
		struct table made = {.module = module};

		complete(&made);
		table = add_table(&made);
	}
	leakwrap_unlock(&lock);
	return table;
}

/* Returns the index of the first function of TABLE that starts behind the offset CODE. */
static size_t first_behind(const struct table *table, uintptr_t code)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->functions[middle].offset <= code)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool leakwrap_symbol_find(const struct leakwrap_module *module, uintptr_t pc,
                          struct leakwrap_function *function)
{
	struct table *table = table_of(module);
	uintptr_t code = pc - module->start;
	size_t low;

	if (!table || table->count == 0)
		return false;
	low = first_behind(table, code);
	/* Several names may have this start.  Take the last of them whose size covers PC. */
	while (low > 0) {
		const struct function *candidate = &table->functions[--low];
		const ElfW(Sym) *symbol = &table->symbols[candidate->symbol];

		if (code - candidate->offset < symbol->st_size) {
			*function = (struct leakwrap_function){
			        .name = table->names + symbol->st_name,
			        .offset = code - candidate->offset,
			        .size = symbol->st_size,
			};
			return true;
		}
		if (low > 0 && table->functions[low - 1].offset != candidate->offset)
			return false;
	}
	return false;
}

bool leakwrap_symbol_behind(const struct leakwrap_module *module, uintptr_t pc, unsigned alias,
                            struct leakwrap_function *function)
{
	const struct table *table = table_of(module);
	const uintptr_t code = pc - module->start;
	const struct function *first, *named;
	size_t index;

	if (!table || (index = first_behind(table, code)) >= table->count ||
	    alias >= table->count - index)
		return false;
	first = &table->functions[index];
	named = first + alias;
	if (named->offset != first->offset)
		return false;
	*function = (struct leakwrap_function){
	        .name = table->names + table->symbols[named->symbol].st_name,
	        .offset = named->offset - code,
	        .size = table->symbols[named->symbol].st_size,
	};
	return true;
}

const char *leakwrap_symbol(const struct leakwrap_module *module, uintptr_t pc, uintptr_t *offset)
{
	struct leakwrap_function function;

	if (!leakwrap_symbol_find(module, pc, &function))
		return NULL;
	*offset = function.offset;
	return function.name;
}

bool leakwrap_read_lists(const struct leakwrap_module *module, struct leakwrap_system_lists *lists)
{
	const struct table *table = table_of(module);

	if (!table || !table->lists.words)
		return false;
	*lists = table->lists;
	lists->has_symbols = table->count > 0;
	return true;
}
