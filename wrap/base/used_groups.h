/* used_groups.h - notes which elements of a large array are in use.
 *
 * The array has an element for each call site.  A program that has seen many stacks has live blocks
 * of few.  So the use is noted by groups of elements, and nobody touches the memory of the others.
 *
 * Signal-safe.  One thread at a time.
 */
#ifndef LEAKWRAP_USED_GROUPS_H
#define LEAKWRAP_USED_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

#define LEAKWRAP_GROUP_ELEMENTS 64u

struct leakwrap_used_groups {
	bool *is_used;  /* by group; NULL: nothing is noted, and all elements count as used */
	uint32_t count; /* elements of the array */
};

/* Returns how many bytes IS_USED has for an array of COUNT elements.  They must be 0 at first. */
LEAKWRAP_INLINE size_t leakwrap_used_groups_size(uint32_t count)
{
	return count / LEAKWRAP_GROUP_ELEMENTS + 1;
}

/* Notes that the element INDEX is in use. */
LEAKWRAP_INLINE void leakwrap_note_use(const struct leakwrap_used_groups *groups, uint32_t index)
{
	if (groups->is_used)
		groups->is_used[index / LEAKWRAP_GROUP_ELEMENTS] = true;
}

/* Returns the first index from INDEX on whose element may be in use; COUNT if there is none. */
LEAKWRAP_INLINE uint32_t leakwrap_next_used(const struct leakwrap_used_groups *groups,
                                            uint32_t index)
{
	while (groups->is_used && index < groups->count &&
	       !groups->is_used[index / LEAKWRAP_GROUP_ELEMENTS])
		index = (index / LEAKWRAP_GROUP_ELEMENTS + 1) * LEAKWRAP_GROUP_ELEMENTS;
	return index < groups->count ? index : groups->count;
}

#endif
