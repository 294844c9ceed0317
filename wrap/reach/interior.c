/* interior.c - see interior.h. */
#include "wrap/reach/interior.h"

#include "wrap/base/c_library.h"
#include "wrap/module/loaded.h"
#include "wrap/module/registry.h"
#include "wrap/rules/based_rules.h"
#include "wrap/rules/end_rules.h"
#include "wrap/rules/interior_rules.h"
#include "wrap/reach/process_memory.h"
#ifndef LEAKWRAP_BARE
#include "wrap/live/indexed_block.h"
#endif

/* Asks the function at CONTEXT. */
static bool is_readable(const void *context, uintptr_t address, uintptr_t size)
{
	leakwrap_is_readable *const *const function = context;

	return (*function)(address, size);
}

static bool is_code(const void *context, uintptr_t address)
{
	const struct leakwrap_module *const module = leakwrap_module_at(address);

	(void)context;
	return module && leakwrap_module_text(module, address);
}

#ifndef LEAKWRAP_BARE

static bool find_block(const void *context, uintptr_t address, uintptr_t *block, uintptr_t *size)
{
	struct leakwrap_indexed_block found;

	(void)context;
	if (!leakwrap_block_index_find(address, &found))
		return false;
	*block = found.address;
	*size = found.size;
	return true;
}

static bool find_start(const void *context, uintptr_t address, uintptr_t *size)
{
	size_t bytes;

	(void)context;
	if (!leakwrap_block_index_find_start(address, &bytes))
		return false;
	*size = bytes;
	return true;
}

/* Variables are among it: the loader copies tables of libraries there. */
static bool is_constant(const void *context, uintptr_t address)
{
	return leakwrap_segment_at(address) && !is_code(context, address);
}

#else

/* Constant data lies among the code. */
static bool is_constant(const void *context, uintptr_t address)
{
	return is_code(context, address);
}

#endif

/* Returns this process' memory.  Its is_readable asks the function to which IS_READABLE_AT points,
 * which must outlive the result. */
LEAKWRAP_INLINE struct leakwrap_memory own_memory(leakwrap_is_readable *const *is_readable_at)
{
	return (struct leakwrap_memory){
	        .load = leakwrap_process_load,
	        .is_readable = is_readable,
	        .is_code = is_code,
	        .is_constant = is_constant,
	        .context = is_readable_at,
	        .word = sizeof(uintptr_t),
	        .cookie_words = LEAKWRAP_COOKIE_WORDS,
	        .has_sse2 = LEAKWRAP_ALWAYS_HAS_SSE2,
#ifdef LEAKWRAP_GLIBC
	        .is_glibc = true,
#endif
#ifndef LEAKWRAP_BARE
	        .find_block = find_block,
	        .find_start = find_start,
	        .has_system = true,
#endif
	};
}

bool leakwrap_is_empty_array(uintptr_t block, size_t size)
{
	const struct leakwrap_memory memory = own_memory(NULL);

	return size == cookie_of(&memory) && is_cookie_of_none(&memory, block);
}

bool leakwrap_is_usual_interior(uintptr_t block, size_t size, uintptr_t pointer, uintptr_t place,
                                leakwrap_is_readable *is_readable_function)
{
	const struct leakwrap_memory memory = own_memory(&is_readable_function);
	const struct leakwrap_interior in = {&memory, block, size, pointer, place, pointer - block};

	return is_usual(&in);
}

#ifndef LEAKWRAP_BARE

bool leakwrap_is_held_by_end(uintptr_t block, size_t size, uintptr_t place,
                             leakwrap_is_readable *is_readable_function)
{
	const struct leakwrap_memory memory = own_memory(&is_readable_function);

	return is_held_by_end(&memory, block, size / sizeof(uintptr_t), place);
}

uintptr_t leakwrap_array_of(uintptr_t address, uintptr_t place, bool has_rows,
                            leakwrap_is_readable *is_readable_function)
{
	const struct leakwrap_memory memory = own_memory(&is_readable_function);

	return leakwrap_find_based(&memory, address, place, has_rows);
}

bool leakwrap_leads_back(uintptr_t block, size_t size, uintptr_t pointer,
                         leakwrap_is_readable *is_readable_function)
{
	const struct leakwrap_memory memory = own_memory(&is_readable_function);
	const struct leakwrap_interior in = {&memory, block, size, pointer, 0, pointer - block};

	return leads_back_by_parts(&in) || knows_pool_apart(&in) || is_aligned_structure(&in);
}

#endif
