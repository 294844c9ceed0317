/* targets.h - addresses of a linked program, whose uses are looked for. */
#ifndef TOOLS_ELF_TARGETS_H
#define TOOLS_ELF_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target {
	uint64_t address;
	size_t symbol; /* the caller's own number */
	bool slot;     /* ADDRESS is not code: it holds a pointer (a GOT entry) */
};

struct targets {
	struct target *all;
	size_t count, room;
};

/* Adds a target.  The caller frees the vector. */
void targets_add(struct targets *targets, uint64_t address, size_t symbol, bool slot);

/* Sorts TARGETS by their addresses. */
void targets_sort(struct targets *targets);

/* Returns the target at ADDRESS of TARGETS, which are sorted, or NULL. */
const struct target *targets_find(const struct targets *targets, uint64_t address);

#endif
