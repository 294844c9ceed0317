/* memory_limit.h - how much memory the process and its cgroup have, and may have.
 *
 * The kernel's interface: cgroups(7); Documentation/admin-guide/cgroup-v2.rst, "Memory Interface
 * Files"; cgroup-v1/memory.rst. */
#ifndef LEAKWRAP_MEMORY_LIMIT_H
#define LEAKWRAP_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the innermost cgroup of this process that limits memory.  FOLDER: its folder, or "" to ask
 * the kernel.  Returns false if there is none, or if another thread asks meanwhile.
 * Signal-safe. */
bool leakwrap_memory_limit_find(const char *folder);

/* Sets *USED to the memory of the cgroup that was found, without file pages that the kernel may
 * drop, and *LIMIT to its limit, in bytes.  Returns false if they cannot be read, if there is no
 * limit now, or if another thread asks meanwhile.  Signal-safe. */
bool leakwrap_memory_limit_read(uint64_t *used, uint64_t *limit);

/* Returns the process's resident memory in bytes, or 0 if it is not known.  Signal-safe. */
uint64_t leakwrap_resident_bytes(void);

#endif
