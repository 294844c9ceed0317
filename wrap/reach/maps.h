/* maps.h - keeps the mappings of the process (leakwrap_mappings_each, port.h) for a scan. */
#ifndef LEAKWRAP_MAPS_H
#define LEAKWRAP_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/port/port.h"

/* Why something failed: there is no memory for it. */
extern const char leakwrap_reach_no_memory[];

/* Reads the mappings.  Returns NULL, and then the caller calls leakwrap_maps_release; or why that
 * failed.  One thread at a time. */
const char *leakwrap_maps_read(void);

/* Gives the memory of the mappings back. */
void leakwrap_maps_release(void);

/* Sets *START and *END to the bounds of the memory that holds the mappings: it is among them. */
void leakwrap_maps_get_bounds(uintptr_t *start, uintptr_t *end);

/* The mappings in the order of their addresses, and their number. */
const struct leakwrap_mapping *leakwrap_maps(size_t *count);

/* Returns the mapping that holds ADDRESS, or NULL. */
const struct leakwrap_mapping *leakwrap_mapping_at(uintptr_t address);

/* Notes that a thread uses the mapping that holds ADDRESS.  Does nothing if there is none. */
void leakwrap_maps_note_thread(uintptr_t address);

/* Returns whether leakwrap_maps_note_thread has noted MAPPING, which is one of leakwrap_maps. */
bool leakwrap_maps_has_thread(const struct leakwrap_mapping *mapping);

/* Returns the end of the readable memory that begins at ADDRESS, at most LIMIT; ADDRESS itself if
 * it cannot be read. */
uintptr_t leakwrap_maps_readable_end(uintptr_t address, uintptr_t limit);

#endif
