/* map.h - the linker's map file: which object file or archive member a piece of code comes from.
 *
 * Reads what ld.bfd, gold and ld.lld write for -Wl,-Map=FILE.
 */
#ifndef TOOLS_MAP_H
#define TOOLS_MAP_H

#include "tools/symbolize/elf_file.h"

struct map;

/* Reads the map PATH of the program FILE.  NULL, after a message, when it cannot be read or is the map
 * of another build: the addresses and sizes of its output sections are not the file's. */
struct map *map_read(const char *path, const struct elf_file *file);
void map_free(struct map *map);

/* "vendor.a(ble.o)" or "main.o", without folders; NULL when the map does not say. */
const char *map_find(const struct map *map, uint64_t address);

#endif
