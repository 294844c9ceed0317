/* blocks_writer.c - see blocks_writer.h.  format.h describes the lines. */
#include "report/blocks_writer.h"

#include "wrap/arch/arch.h"
#include "wrap/base/c_library.h"
#include "wrap/base/options.h"
#include "wrap/base/sampling.h"
#include "wrap/base/thread.h"
#include "wrap/live/live.h"
#include "wrap/port/port.h"
#include "wrap/reach/declared_roots.h"
#include "wrap/reach/ended_stacks.h"
#include "wrap/reach/heap_known.h"
#include "wrap/reach/jemalloc.h"
#include "wrap/reach/no_roots.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_table.h"

/* A block takes at most 48 bytes of a line. */
#define BLOCKS_PER_LINE (LEAKWRAP_TEXT_ROOM / 64)

/* A list of blocks that is being written. */
struct list {
	struct leakwrap_writer *writer;
	uint32_t *ranks; /* of the call sites, by their numbers; 0: left out of the dump */
	uint32_t sites;  /* the numbers that have ranks */
	uint32_t first;  /* lower numbers are of blocks from before a fork, and left out */
	unsigned in_line;
};

static void write_range(struct leakwrap_writer *writer, uintptr_t start, uintptr_t end)
{
	leakwrap_write_hex(writer, start);
	leakwrap_write_text(writer, "-");
	leakwrap_write_hex(writer, end);
}

static void write_own(void *writer, uintptr_t start, uintptr_t end)
{
	/* Memory of a scan that has ended. */
	if (start == 0)
		return;
	leakwrap_write_text(writer, "own ");
	write_range(writer, start, end);
	leakwrap_write_end(writer);
}

static void write_root(void *writer, uintptr_t start, uintptr_t end)
{
	leakwrap_write_text(writer, "root ");
	write_range(writer, start, end);
	leakwrap_write_end(writer);
}

/* Writes what the tool must know of the memory around the blocks. */
static void write_memory(struct leakwrap_writer *writer)
{
	const uintptr_t state = (uintptr_t)&leakwrap_self;
	struct leakwrap_stack_layout layout;

	leakwrap_write_text(writer,
	                    leakwrap_heap_is_known() ? "memory heap=known" : "memory heap=part");
#ifdef LEAKWRAP_GLIBC
	leakwrap_write_text(writer, " allocator=glibc");
#endif
	if (leakwrap_has_jemalloc())
		leakwrap_write_text(writer, " records=jemalloc");
	leakwrap_write_text(writer, " thread_pointer=");
	leakwrap_write_hex(writer, LEAKWRAP_THREAD_POINTER);
	leakwrap_write_text(writer, " thread_state=");
	write_range(writer, state, state + sizeof(struct leakwrap_thread));
	if (leakwrap_ended_stacks_layout(&layout)) {
		leakwrap_write_text(writer, " stack_layout=");
		leakwrap_write_hex(writer, layout.thread_pointer);
		leakwrap_write_text(writer, ",");
		leakwrap_write_hex(writer, layout.bounds);
		leakwrap_write_text(writer, ",");
		leakwrap_write_hex(writer, layout.size);
	}
	if (leakwrap_options.pointer_step != 0)
		leakwrap_write_pair(writer, " pointer_step=", leakwrap_options.pointer_step);
	leakwrap_write_end(writer);
	leakwrap_pages_each(write_own, writer);
	leakwrap_no_roots_each_own(write_own, writer);
	leakwrap_declared_roots_each(write_root, writer);
}

/* Returns the rank of the call site with NUMBER, or 0 if the dump leaves it out. */
static uint32_t rank_of(const struct list *list, uint32_t number)
{
	if (number < list->first || number >= list->sites)
		return 0;
	if (number >= LEAKWRAP_SITE_FIRST && !leakwrap_sites_are_unique())
		number = leakwrap_site_oldest(number);
	return list->ranks[number];
}

static void write_block(void *context, const struct leakwrap_live_block *block)
{
	struct list *const list = context;
	struct leakwrap_writer *const writer = list->writer;

	if (list->in_line == BLOCKS_PER_LINE) {
		leakwrap_write_end(writer);
		list->in_line = 0;
	}
	leakwrap_write_text(writer, list->in_line++ == 0 ? "blocks " : " ");
	if (block->site == LEAKWRAP_SITE_IGNORED)
		leakwrap_write_text(writer, "ignored");
	else
		leakwrap_write_number(writer, rank_of(list, block->site));
	leakwrap_write_text(writer, ":");
	leakwrap_write_hex(writer, block->address);
	leakwrap_write_pair(writer, "+", block->size);
}

void leakwrap_blocks_write(struct leakwrap_writer *writer,
                           const struct leakwrap_site_totals *totals)
{
	struct list list = {.writer = writer, .sites = leakwrap_sites_limit()};
	const size_t size = list.sites * sizeof(list.ranks[0]);

	if (!leakwrap_options.blocks)
		return;
	list.ranks = leakwrap_last_interval() == 0 ? leakwrap_scratch_map(size) : NULL;
	if (!list.ranks) {
		leakwrap_write_text(writer,
		                    "note the live blocks are not listed: there is no memory, or "
		                    "not all of them are recorded");
		leakwrap_write_end(writer);
		return;
	}
	if (totals->own)
		list.first = leakwrap_sites_first_own();
	for (size_t i = 0; i < totals->rows_count; i++)
		if (totals->rows[i].site < list.sites)
			list.ranks[totals->rows[i].site] = (uint32_t)i + 1;
	write_memory(writer);
	leakwrap_live_each(write_block, &list);
	if (list.in_line > 0)
		leakwrap_write_end(writer);
	leakwrap_scratch_unmap(list.ranks, size);
}
