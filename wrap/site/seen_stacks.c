/* seen_stacks.c - see seen_stacks.h. */
#include "wrap/site/seen_stacks.h"

#include "wrap/base/common.h"
#include "wrap/base/hash.h"
#include "wrap/site/trace_hash.h"

#include <stdatomic.h>

#define SEEN_BITS 16
static LEAKWRAP_TABLE _Atomic uint16_t seen[1 << SEEN_BITS];

bool leakwrap_seen_stacks_add(const struct leakwrap_trace *trace, uintptr_t place, uint32_t salt)
{
	const uint64_t hash = leakwrap_stack_hash_finalize(leakwrap_trace_hash(trace) + place);
	_Atomic uint16_t *const entry = &seen[hash >> (64 - SEEN_BITS)];
	const uint16_t bits = (uint16_t)(hash >> 16);
	const uint16_t before = atomic_load_explicit(entry, memory_order_relaxed);

	if (before == bits)
		return true;
	/* The highest bit of a product is as good as random. */
	if (before == 0 || salt * LEAKWRAP_HASH_FACTOR_32 >> 31 != 0)
		atomic_store_explicit(entry, bits, memory_order_relaxed);
	return false;
}
