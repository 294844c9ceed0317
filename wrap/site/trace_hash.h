/* trace_hash.h - the hash that stands for a backtrace in the call-site table. */
#ifndef LEAKWRAP_TRACE_HASH_H
#define LEAKWRAP_TRACE_HASH_H

#include <stdint.h>

#include "wrap/base/hash.h"
#include "wrap/site/stack_hash.h"
#include "wrap/unwind/trace.h"

/* Returns the hash of the frames and the kind of TRACE; bit 0 is clear.  Two backtraces have equal
 * hashes by a chance of one in 2^63.  So lookups compare hashes, and do not read the stored
 * backtraces.  Signal-safe. */
static inline uint64_t leakwrap_trace_hash(const struct leakwrap_trace *trace)
{
	const uint64_t factor = LEAKWRAP_HASH_FACTOR_SPLITMIX;
	const uintptr_t *pc = trace->pcs, *const end = pc + trace->depth;
	uint64_t sum = trace->depth * 4 + (unsigned)trace->kind;

	if (trace->depth % 2 != 0)
		sum = (sum + *pc++) * factor;
	for (; pc != end; pc += 2)
		sum = ((sum + pc[0]) * factor + pc[1]) * factor;
	return leakwrap_stack_hash_finalize(sum) & ~UINT64_C(1);
}

#endif
