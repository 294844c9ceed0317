/* site_read.c - see site_read.h. */
#include "wrap/site/site_read.h"

#include "wrap/base/byte_pool.h"
#include "wrap/base/site_number.h"
#include "wrap/site/site_chunk.h"
#include "wrap/site/stored_backtrace.h"
#include "wrap/site/young_ring.h"

unsigned leakwrap_site_depth(uint32_t number)
{
	struct leakwrap_site_chain chain;

	if (leakwrap_site_is_young(number))
		return leakwrap_young_ring_entry(number)->depth;
	leakwrap_site_follow_chain(&chain, number);
	return chain.base->depth;
}

void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace)
{
	struct leakwrap_site_chain chain;

	if (leakwrap_site_is_young(number)) {
		leakwrap_young_ring_read(number, trace);
		return;
	}
	leakwrap_site_follow_chain(&chain, number);
	trace->depth = chain.base->depth;
	trace->kind = chain.base->kind;
	trace->modules = chain.base->modules;
	leakwrap_site_read_pcs(&chain, trace->pcs);
}

void leakwrap_site_prefetch(uint32_t number)
{
	const leakwrap_pool_offset bytes =
	        number >= LEAKWRAP_SITE_FIRST && !leakwrap_site_is_young(number)
	                ? leakwrap_site_backtrace(number)
	                : 0;

	if (bytes != 0)
		__builtin_prefetch(leakwrap_byte_pool_at(bytes));
}

enum leakwrap_trace_kind leakwrap_site_kind(uint32_t number)
{
	struct leakwrap_site_chain chain;

	if (leakwrap_site_is_young(number))
		return (enum leakwrap_trace_kind)leakwrap_young_ring_entry(number)->kind;
	leakwrap_site_follow_chain(&chain, number);
	return chain.base->kind;
}

const char *leakwrap_site_task(uint32_t number)
{
	(void)number;
	return NULL;
}
