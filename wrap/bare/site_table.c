/* site_table.c - a call-site table in kilobytes: implements site_table.h by chains of records.
 * Every stack is walked, since there is no stack cache.  If tasks have names, each task has its own
 * call sites. */
#include "wrap/site/site_read.h"
#include "wrap/base/hash.h"
#include "wrap/site/site_table.h"

#include "wrap/base/loss.h"
#include "wrap/base/arena.h"
#include "wrap/bare/bare_arena.h"
#include "wrap/bare/bare_tables.h"
#include "wrap/port/port.h"
#include "wrap/bare/tasks.h"

#include <stddef.h>
#include <string.h>

/* If memory is short, a trace keeps this number of frames. */
#define LEAF_FRAMES 4

#define CHAINS      32

struct record {
	struct record *next;        /* in the same chain */
	const struct record *older; /* in the list of all records */
	const char *task;
	uint32_t number;
	uint16_t depth;
	uint8_t kind; /* enum leakwrap_trace_kind */
	uintptr_t pcs[];
};

static struct {
	struct leakwrap_lock lock;
	struct record *chain[CHAINS];
	const struct record *newest;
	uint32_t limit; /* one more than the highest number */
} sites = {.limit = LEAKWRAP_SITE_FIRST};

/* Reserves scratch memory: a dump needs one row for each call site. */
void leakwrap_sites_start(void)
{
	/* A symbol that takes no memory: the build prints its value. */
	__asm__ volatile(".globl leakwrap_site_bytes\n\t.set leakwrap_site_bytes, %c0"
	                 :
	                 : "i"(sizeof(struct record) + LEAKWRAP_SCRATCH_PER_SITE));
	leakwrap_arena_reserve_scratch(LEAKWRAP_SCRATCH_PER_SITE * LEAKWRAP_SITE_FIRST + 64);
}

/* Returns the chain in which TRACE is or belongs. */
static struct record **find_chain(const struct leakwrap_trace *trace)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < trace->depth; i++)
		hash = (hash ^ (uint32_t)trace->pcs[i]) * LEAKWRAP_HASH_FACTOR_32;
	return &sites.chain[(hash >> 16) % CHAINS];
}

static bool record_matches(const struct record *record, const struct leakwrap_trace *trace,
                           const char *task)
{
	return record->task == task && record->depth == trace->depth &&
	       record->kind == (uint8_t)trace->kind &&
	       memcmp(record->pcs, trace->pcs, trace->depth * sizeof(trace->pcs[0])) == 0;
}

/* Adds a record for TRACE and TASK to CHAIN.  Returns NULL if the memory or the numbers are used
 * up.  The caller holds the lock. */
static struct record *add(struct record **chain, const struct leakwrap_trace *trace,
                          const char *task, bool from_reserve)
{
	size_t size = sizeof(struct record) + trace->depth * sizeof(trace->pcs[0]);
	struct record *record;

	if (sites.limit >= LEAKWRAP_SITE_LIMIT ||
	    !leakwrap_arena_reserve_scratch(LEAKWRAP_SCRATCH_PER_SITE))
		return NULL;
	record = leakwrap_arena_take_from(size, from_reserve);
	if (!record)
		return NULL;
	record->older = sites.newest;
	record->number = sites.limit++;
	record->depth = (uint16_t)trace->depth;
	record->kind = (uint8_t)trace->kind;
	record->task = task;
	memcpy(record->pcs, trace->pcs, trace->depth * sizeof(trace->pcs[0]));
	record->next = *chain;
	*chain = record;
	sites.newest = record;
	return record;
}

/* Returns the number of the call site of TRACE and TASK, or LEAKWRAP_SITE_NONE if it cannot be
 * added. */
static uint32_t find_or_add(const struct leakwrap_trace *trace, const char *task, bool from_reserve)
{
	struct record **chain = find_chain(trace);
	struct record *record;

	leakwrap_lock(&sites.lock);
	for (record = *chain; record && !record_matches(record, trace, task); record = record->next)
		;
	if (!record)
		record = add(chain, trace, task, from_reserve);
	leakwrap_unlock(&sites.lock);
	return record ? record->number : LEAKWRAP_SITE_NONE;
}

uint32_t leakwrap_site_intern(const struct leakwrap_trace *trace,
                              const struct leakwrap_stack *stack)
{
	const char *task = leakwrap_task_name();
	uint32_t number = find_or_add(trace, task, false);
	struct leakwrap_trace leaf = *trace;

	(void)stack;
	if (number != LEAKWRAP_SITE_NONE)
		return number;
	if (leaf.depth > LEAF_FRAMES) {
		leaf.depth = LEAF_FRAMES;
		leaf.kind = LEAKWRAP_TRACE_TRUNCATED;
	}
	number = find_or_add(&leaf, task, true);
	if (number != LEAKWRAP_SITE_NONE)
		return number;
	leakwrap_count(&leakwrap_loss.lost_call_sites, 1);
	return LEAKWRAP_SITE_LOST;
}

/* Returns the record with NUMBER by a linear search.  Only a dump asks, and sending it takes far
 * longer.  The dump has held the live table's lock since it read NUMBER, so the record is there. */
static const struct record *find_record(uint32_t number)
{
	const struct record *record = sites.newest;

	while (record->number != number)
		record = record->older;
	return record;
}

void leakwrap_site_read(uint32_t number, struct leakwrap_trace *trace)
{
	const struct record *record = find_record(number);

	trace->depth = record->depth;
	trace->kind = record->kind;
	memcpy(trace->pcs, record->pcs, record->depth * sizeof(trace->pcs[0]));
}

enum leakwrap_trace_kind leakwrap_site_kind(uint32_t number)
{
	return find_record(number)->kind;
}

const char *leakwrap_site_task(uint32_t number)
{
	return find_record(number)->task;
}

uint32_t leakwrap_sites_limit(void)
{
	return sites.limit;
}
