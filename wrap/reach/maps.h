/* maps.h - the mappings of the process, from /proc/self/maps (proc(5)). */
#ifndef LEAKWRAP_MAPS_H
#define LEAKWRAP_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why something failed: there is no memory for it. */
extern const char leakwrap_reach_no_memory[];

struct leakwrap_mapping {
	uintptr_t start, end;
	bool is_readable, is_writable, is_executable, is_shared;
	bool is_file;    /* it has a file's name, or is shared memory with a name */
	bool is_memory;  /* its name is one of shared memory */
	bool is_break;   /* "[heap]": the memory of brk(2) */
	bool is_stack;   /* "[stack]": the stack of the process's first thread */
	bool is_special; /* a device's, or the kernel's: reading may have effects */
	bool has_thread; /* a thread uses it (leakwrap_maps_note_thread) */
};

/* Reads the mappings.  Returns NULL, and then the caller calls leakwrap_maps_release; or why that
 * failed.  One thread at a time. */
const char *leakwrap_maps_read(void);

void leakwrap_maps_release(void);

/* Sets *START and *END to the bounds of the memory that holds the mappings: it is among them. */
void leakwrap_maps_own_memory(uintptr_t *start, uintptr_t *end);

/* The mappings in the order of their addresses, and their number. */
const struct leakwrap_mapping *leakwrap_maps(size_t *count);

/* Returns the mapping that holds ADDRESS, or NULL. */
const struct leakwrap_mapping *leakwrap_mapping_at(uintptr_t address);

/* Notes that a thread uses the mapping that holds ADDRESS.  Does nothing if there is none. */
void leakwrap_maps_note_thread(uintptr_t address);

/* Returns the end of the readable memory that begins at ADDRESS, at most LIMIT; ADDRESS itself if
 * it cannot be read. */
uintptr_t leakwrap_maps_readable_end(uintptr_t address, uintptr_t limit);

#endif
