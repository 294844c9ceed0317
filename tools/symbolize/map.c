/* map.c - see map.h. */
#include "tools/symbolize/map.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/binary_search.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"
#include "tools/elf/headers.h"

struct piece {
	uint64_t start, end;
	const char *object;
};

struct map {
	struct arena arena;
	struct strings strings;
	struct piece *pieces;
	size_t count, room;
};

/* An output section with code, by the file. */
struct section {
	const char *name;
	uint64_t address, size;
	bool agrees; /* the map says the same */
};

struct reading {
	struct map *map;
	struct section *sections;
	size_t section_count, section_room;
	bool in_code; /* the current output section has code */
};

/* -- one line ---------------------------------------------------------------------------------- */

static bool take_number(const char **at, int base, uint64_t *number)
{
	char *end;
	while (**at == ' ' || **at == '\t')
		++*at;
	if (base == 16 ? !isxdigit((unsigned char)**at) : !isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*number = strtoull(*at, &end, base);
	if (errno || (*end && !isspace((unsigned char)*end)))
		return false;
	*at = end;
	return true;
}

/* Returns "dir/vendor.a(ble.o)" without the folder. */
static const char *object_name(struct map *map, const char *text, size_t length)
{
	const char *member = memchr(text, '(', length);
	size_t path = member ? (size_t)(member - text) : length;
	while (path > 0 && text[path - 1] != '/')
		path--;
	return intern(&map->strings, text + path, length - path);
}

static void add_piece(struct map *map, uint64_t address, uint64_t size, const char *text,
                      size_t length)
{
	/* An object that link-time optimization wrote is none of the user's. */
	if (size == 0 || length == 0 || memmem(text, length, ".ltrans", 7))
		return;
	GROW(map->pieces, map->room, map->count + 1);
	map->pieces[map->count++] =
	        (struct piece){address, address + size, object_name(map, text, length)};
}

static void start_section(struct reading *reading, const char *name, size_t length,
                          uint64_t address, uint64_t size)
{
	reading->in_code = false;
	for (size_t i = 0; i < reading->section_count; i++) {
		struct section *section = &reading->sections[i];
		if (strlen(section->name) != length || strncmp(section->name, name, length) != 0)
			continue;
		reading->in_code = true;
		section->agrees = section->address == address && section->size == size;
	}
}

/* Reads a line of ld.bfd or gold: " .text  0xADDRESS  0xSIZE FILE".  A long name has a line of its
 * own.  An output section begins in the first column and has no FILE. */
static void read_bfd_line(struct reading *reading, const char *line)
{
	uint64_t address, size;
	bool output = line[0] == '.';
	const char *name = line, *at = line;
	size_t name_length = strcspn(line, " ");

	if (!output && line[0] != ' ')
		return;
	at += strspn(at, " ");
	if (strncmp(at, "0x", 2) != 0) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	if (output)
		reading->in_code = false;
	if (strncmp(at, "0x", 2) != 0 || !take_number(&at, 16, &address))
		return;
	at += strspn(at, " ");
	if (strncmp(at, "0x", 2) != 0 || !take_number(&at, 16, &size))
		return;
	at += strspn(at, " ");
	if (output)
		start_section(reading, name, name_length, address, size);
	else if (reading->in_code)
		add_piece(reading->map, address, size, at, strlen(at));
}

/* Reads a line of ld.lld: "VMA LMA Size Align FILE:(.section)" in hexadecimal.  The line of an
 * output section has its name for FILE.  mold leaves out LMA, and has decimal sizes.  Indentation
 * tells the columns Out, In and Symbol. */
static void read_columns_line(struct reading *reading, const char *line, bool lma)
{
	uint64_t address, size, ignored;
	const char *at = line;

	if (!take_number(&at, 16, &address) || (lma && !take_number(&at, 16, &ignored)) ||
	    !take_number(&at, lma ? 16 : 10, &size) || !take_number(&at, 10, &ignored))
		return;
	size_t indentation = strspn(at, " ");
	at += indentation;
	const char *section = strstr(at, ":(");
	if (indentation == 1)
		start_section(reading, at, strlen(at), address, size);
	else if (section && reading->in_code)
		add_piece(reading->map, address, size, at, (size_t)(section - at));
}

/* -- the file ---------------------------------------------------------------------------------- */

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void read_lines(struct reading *reading, FILE *stream)
{
	enum { UNKNOWN, BFD, LLD, MOLD } form = UNKNOWN;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;

	while ((length = getline(&line, &room, stream)) >= 0) {
		while (length > 0 && isspace((unsigned char)line[length - 1]))
			line[--length] = '\0';
		if (form == UNKNOWN && strstr(line, " VMA ") && strstr(line, " Size "))
			form = strstr(line, " LMA ") ? LLD : MOLD;
		else if (form == UNKNOWN && strstr(line, "emory map"))
			form = BFD;
		else if (form == BFD)
			read_bfd_line(reading, line);
		else if (form != UNKNOWN)
			read_columns_line(reading, line, form == LLD);
	}
	free(line);
}

static void list_sections(struct reading *reading, const struct elf_file *file)
{
	GElf_Shdr header;
	for (Elf_Scn *scn = NULL; (scn = next_section(file->elf, scn, &header)) != NULL;) {
		if (!(header.sh_flags & SHF_EXECINSTR))
			continue;
		const char *name = section_name(file->elf, &header);
		GROW(reading->sections, reading->section_room, reading->section_count + 1);
		reading->sections[reading->section_count++] =
		        (struct section){name ? name : "", header.sh_addr, header.sh_size, false};
	}
}

/* Returns true if the map has .text where the file has it, and as large.  Smaller sections may grow
 * after the map is written. */
static bool is_map_of_file(const struct reading *reading)
{
	for (size_t i = 0; i < reading->section_count; i++)
		if (strcmp(reading->sections[i].name, ".text") == 0)
			return reading->sections[i].agrees;
	return false;
}

struct map *map_read(const char *path, const struct elf_file *file)
{
	FILE *stream = fopen(path, "re");
	if (!stream) {
		complain("%s: %s", path, strerror(errno));
		return NULL;
	}
	struct map *map = xzalloc(sizeof *map);
	struct reading reading = {.map = map};
	map->strings.arena = &map->arena;
	list_sections(&reading, file);
	read_lines(&reading, stream);
	fclose(stream);
	bool fits = map->count > 0 && is_map_of_file(&reading);
	free(reading.sections);
	if (!fits) {
		complain("%s is not the linker's map of this program: it is not used", path);
		map_free(map);
		return NULL;
	}
	qsort(map->pieces, map->count, sizeof *map->pieces, compare_pieces);
	return map;
}

void map_free(struct map *map)
{
	if (!map)
		return;
	free(map->pieces);
	table_free(&map->strings.table);
	arena_free(&map->arena);
	free(map);
}

const char *map_find(const struct map *map, uint64_t address)
{
	size_t behind;
	BINARY_SEARCH(behind, map->count, map->pieces[behind].start <= address);
	return behind > 0 && address < map->pieces[behind - 1].end ? map->pieces[behind - 1].object
	                                                           : NULL;
}
