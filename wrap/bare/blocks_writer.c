/* blocks_writer.c - see blocks_writer.h.  Without an operating system the list goes with an image
 * of the RAM.  Maps no memory. */
#include "report/blocks_writer.h"

#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/base/thread.h"
#include "wrap/bare/tasks.h"
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

/* Writes the start of a line with the range of memory from START to END.  NAME: the line's first
 * word, with a space behind it. */
static void write_range(struct leakwrap_writer *writer, const char *name, uintptr_t start,
                        uintptr_t end)
{
	leakwrap_write_text(writer, name);
	leakwrap_write_hex(writer, start);
	leakwrap_write_text(writer, "-");
	leakwrap_write_hex(writer, end);
}

static void write_line(struct leakwrap_writer *writer, const char *name, uintptr_t start,
                       uintptr_t end)
{
	write_range(writer, name, start, end);
	leakwrap_write_end(writer);
}

/* Writes STACK.  Of the stack that the dump runs on, SP is the stack pointer. */
static void write_stack(struct leakwrap_writer *writer, const struct leakwrap_bare_stack *stack,
                        uintptr_t sp)
{
	const bool is_own = sp >= stack->low && sp < stack->high;

	if (stack->low >= stack->high)
		return;
	write_range(writer, "stack ", stack->low, stack->high);
	if (is_own || (stack->sp >= stack->low && stack->sp <= stack->high)) {
		leakwrap_write_text(writer, " sp=");
		leakwrap_write_hex(writer, is_own ? sp : stack->sp);
	}
	leakwrap_write_end(writer);
}

/* The stack of one task: the program tells all of them in a row. */
struct told_stack {
	unsigned skip; /* stacks before it */
	bool is_found;
	struct leakwrap_bare_stack stack;
};

static void take_stack(void *context, const struct leakwrap_bare_stack *stack)
{
	struct told_stack *const told = context;

	if (told->skip > 0) {
		told->skip--;
	} else if (!told->is_found) {
		told->is_found = true;
		told->stack = *stack;
	}
}

/* Writes the stacks.  The program's hook has returned before each line: its function for output
 * may wait for a task. */
static void write_stacks(struct leakwrap_writer *writer, uintptr_t sp)
{
	const struct leakwrap_thread *const self = &leakwrap_self;
	const struct leakwrap_bare_stack of_main = {(uintptr_t)leakwrap_bare.stack_low,
	                                            (uintptr_t)leakwrap_bare.stack_high, 0};
	const struct leakwrap_bare_stack of_task = {self->stack_high - self->stack_room,
	                                            self->stack_high, 0};
	struct told_stack told = {.is_found = true};

	write_stack(writer, &of_main, sp);
	if (!leakwrap_bare.each_stack && of_task.high != of_main.high)
		write_stack(writer, &of_task, sp);
	for (unsigned i = 0; leakwrap_bare.each_stack && told.is_found; i++) {
		told = (struct told_stack){.skip = i};
		leakwrap_bare.each_stack(take_stack, &told);
		if (told.is_found)
			write_stack(writer, &told.stack, sp);
	}
}

/* Writes what is no root, and the roots that the program declares. */
static void write_roots(struct leakwrap_writer *writer)
{
	const struct leakwrap_thread *const self = &leakwrap_self;
	uintptr_t start, end;

	start = (uintptr_t)leakwrap_bare.memory;
	write_line(writer, "own ", start, start + leakwrap_bare.memory_size);
	write_line(writer, "own ", (uintptr_t)self, (uintptr_t)(self + 1));
	leakwrap_tasks_get_bounds(&start, &end);
	write_line(writer, "own ", start, end);
	if (leakwrap_bare.heap_high)
		write_line(writer, "own ", (uintptr_t)leakwrap_bare.heap_low,
		           (uintptr_t)leakwrap_bare.heap_high);
	for (size_t i = 0; i < leakwrap_bare.root_count; i++)
		write_line(writer, "root ", (uintptr_t)leakwrap_bare.roots[i].start,
		           (uintptr_t)leakwrap_bare.roots[i].end);
}

/* Writes BLOCK, NUMBER of the list, with the rank of its call site in TOTALS. */
static void write_block(struct leakwrap_writer *writer, const struct leakwrap_site_totals *totals,
                        const struct leakwrap_live_block *block, uint32_t number)
{
	size_t rank = 0;

	while (rank < totals->rows_count && totals->rows[rank].site != block->site)
		rank++;
	leakwrap_write_text(writer, number % BLOCKS_PER_LINE == 0 ? "blocks " : " ");
	if (block->site == LEAKWRAP_SITE_IGNORED)
		leakwrap_write_text(writer, "ignored");
	else
		leakwrap_write_number(writer, rank < totals->rows_count ? rank + 1 : 0);
	leakwrap_write_text(writer, ":");
	leakwrap_write_hex(writer, block->address);
	leakwrap_write_pair(writer, "+", block->size);
	if ((number + 1) % BLOCKS_PER_LINE == 0)
		leakwrap_write_end(writer);
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
		leakwrap_write_end(writer);
	memset(&gathered, 0, sizeof(gathered));
	__asm__ volatile("" : : "r"(&gathered) : "memory");
}

void leakwrap_blocks_write(struct leakwrap_writer *writer,
                           const struct leakwrap_site_totals *totals)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	const bool is_heap_known = !atomic_load(&leakwrap_loss.has_hidden) &&
	                           atomic_load(&leakwrap_loss.untracked_blocks) == 0 &&
	                           atomic_load(&leakwrap_loss.foreign_frees) == 0;

	if (!leakwrap_options.blocks)
		return;
	leakwrap_write_text(writer, is_heap_known ? "memory heap=known" : "memory heap=part");
	if (leakwrap_bare.root_count > 0)
		leakwrap_write_text(writer, " roots=listed");
	leakwrap_write_end(writer);
	write_roots(writer);
	write_stacks(writer, sp);
	write_blocks(writer, totals);
}
