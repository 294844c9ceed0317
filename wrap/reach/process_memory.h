/* process_memory.h - the functions of struct leakwrap_memory for the process itself.  They need no
 * context. */
#ifndef LEAKWRAP_PROCESS_MEMORY_H
#define LEAKWRAP_PROCESS_MEMORY_H

#include <string.h>

#include "wrap/rules/memory.h"
#include "wrap/unwind/stack_bounds.h"

/* Returns the number in the SIZE bytes at ADDRESS, which can be read: 1, 2, 4 or 8. */
static inline uint64_t leakwrap_process_load(const void *context, uintptr_t address, unsigned size)
{
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	(void)context;
	if (size == sizeof(uintptr_t))
		return leakwrap_stack_word(address);
	switch (size) {
	case 1:
		return *(const uint8_t *)address;
	case sizeof(two):
		memcpy(&two, (const void *)address, sizeof(two));
		return two;
	case sizeof(four):
		memcpy(&four, (const void *)address, sizeof(four));
		return four;
	default:
		memcpy(&eight, (const void *)address, sizeof(eight));
		return eight;
	}
}

#endif
