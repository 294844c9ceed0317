/* blocks_writer.c - see blocks_writer.h.  Without an operating system the list goes with an image
 * of the RAM.  Maps no memory. */
#include "report/blocks_writer.h"

#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/base/thread.h"
#include "wrap/leakwrap_bare.h"
#include "wrap/live/live.h"

#include <string.h>

/* Blocks that are gathered at a time: the program's function for output must not be called with the
 * lock held, as during a walk through the live table. */
#define GATHERED 8

struct gathered {
	uint32_t skip; /* blocks that have been written */
	unsigned count;
	struct leakwrap_live_block block[GATHERED];
};

/* A block takes at most 32 bytes of a line. */
#define BLOCKS_PER_LINE (LEAKWRAP_TEXT_ROOM / 64)

static void gather(void *context, const struct leakwrap_live_block *block)
{
	struct gathered *const gathered = context;

	if (gathered->skip > 0)
		gathered->skip--;
	else if (gathered->count < GATHERED)
		gathered->block[gathered->count++] = *block;
}

/* Writes that the SIZE bytes at START are no root. */
static void write_own(struct leakwrap_writer *writer, uintptr_t start, size_t size)
{
	leakwrap_text(writer, "own ");
	leakwrap_text_hex(writer, start);
	leakwrap_text(writer, "-");
	leakwrap_text_hex(writer, start + size);
	leakwrap_text_end(writer);
}

/* If SP is on the stack from LOW to HIGH, writes that what lies below SP is no root: it is of the
 * past. */
static void write_unused(struct leakwrap_writer *writer, uintptr_t low, uintptr_t high,
                         uintptr_t sp)
{
	if (sp >= low && sp < high)
		write_own(writer, low, sp - low);
}

/* Writes BLOCK, NUMBER of the list, with the rank of its call site in TOTALS. */
static void write_block(struct leakwrap_writer *writer, const struct leakwrap_site_totals *totals,
                        const struct leakwrap_live_block *block, uint32_t number)
{
	size_t rank = 0;

	while (rank < totals->rows_count && totals->rows[rank].site != block->site)
		rank++;
	leakwrap_text(writer, number % BLOCKS_PER_LINE == 0 ? "blocks " : " ");
	if (block->site == LEAKWRAP_SITE_IGNORED)
		leakwrap_text(writer, "ignored");
	else
		leakwrap_text_number(writer, rank < totals->rows_count ? rank + 1 : 0);
	leakwrap_text(writer, ":");
	leakwrap_text_hex(writer, block->address);
	leakwrap_text_pair(writer, "+", block->size);
	if ((number + 1) % BLOCKS_PER_LINE == 0)
		leakwrap_text_end(writer);
}

/* Lists the blocks.  Not inlined, and leaves no address of a block behind: its frame lies below all
 * that is a root, unless the stack is not known. */
static __attribute__((noinline)) void write_blocks(struct leakwrap_writer *writer,
                                                   const struct leakwrap_site_totals *totals)
{
	struct gathered gathered;
	uint32_t done = 0;

	do {
		gathered.skip = done;
		gathered.count = 0;
		leakwrap_live_each(gather, &gathered);
		for (unsigned i = 0; i < gathered.count; i++)
			write_block(writer, totals, &gathered.block[i], done++);
	} while (gathered.count == GATHERED);
	if (done % BLOCKS_PER_LINE != 0)
		leakwrap_text_end(writer);
	memset(&gathered, 0, sizeof(gathered));
	__asm__ volatile("" : : "r"(&gathered) : "memory");
}

void leakwrap_blocks_write(struct leakwrap_writer *writer,
                           const struct leakwrap_site_totals *totals)
{
	const struct leakwrap_thread *const self = &leakwrap_self;
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	const bool is_heap_known = !atomic_load(&leakwrap_loss.has_hidden) &&
	                           atomic_load(&leakwrap_loss.untracked_blocks) == 0 &&
	                           atomic_load(&leakwrap_loss.foreign_frees) == 0;

	if (!leakwrap_options.blocks)
		return;
	leakwrap_text(writer, is_heap_known ? "memory heap=known" : "memory heap=part");
	leakwrap_text_end(writer);
	write_own(writer, (uintptr_t)leakwrap_bare.memory, leakwrap_bare.memory_size);
	write_own(writer, (uintptr_t)self, sizeof(*self));
	write_unused(writer, self->stack_high - self->stack_room, self->stack_high, sp);
	write_unused(writer, (uintptr_t)leakwrap_bare.stack_low,
	             (uintptr_t)leakwrap_bare.stack_high, sp);
	write_blocks(writer, totals);
}
