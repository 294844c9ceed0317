/* interior.c - see interior.h. */
#include "tools/image/interior.h"

#include "tools/image/memory.h"
#include "wrap/reach/interior_rules.h"

bool is_usual_interior(const void *context, const struct listed_block *block, uint64_t pointer,
                       uint64_t at)
{
	const struct interior_search *search = context;
	const struct image_process process = {search->image, search->modules, NULL};
	const struct leakwrap_memory memory = image_memory(&process, search->is_glibc);
	const struct leakwrap_interior in = {&memory, block->address,          block->size, pointer,
	                                     at,      pointer - block->address};

	return is_usual(&in);
}
