/* map.h - a map file of the linker: the object file or archive member of a piece of code.
 *
 * Reads the maps that ld.bfd, gold, ld.lld and mold write for -Wl,-Map=FILE.
 */
#ifndef TOOLS_SYMBOLIZE_MAP_H
#define TOOLS_SYMBOLIZE_MAP_H

#include "tools/symbolize/elf_file.h"

struct map;

/* Reads the map PATH of the program FILE.  Returns NULL, after a message, if it cannot be read or
 * is the map of another build.  The caller frees the result. */
struct map *map_read(const char *path, const struct elf_file *file);
void map_free(struct map *map);

/* Returns "vendor.a(ble.o)" or "main.o", without folders, or NULL if the map has no object at
 * ADDRESS.  The string is of MAP. */
const char *map_find(const struct map *map, uint64_t address);

#endif
