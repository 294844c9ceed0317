/* draft_blocks.c - see draft_blocks.h. */
#include "tools/log/draft_blocks.h"

#include "tools/base/memory.h"

static bool scan_range(struct cursor *c, struct memory_range *range)
{
	return scan_hex(c, &range->start) && skip_text(c, "-") && scan_hex(c, &range->end) &&
	       range->start <= range->end;
}

/* Reads a value of the option pointer_step=. */
static bool scan_step(struct cursor *c, uint64_t *step)
{
	return scan_decimal(c, step) && (*step == 1 || *step == 2 || *step == 4);
}

/* Reads "0x940,0x2b0,0x801000". */
static bool scan_stack_layout(struct cursor *c, struct block_list *list)
{
	return scan_hex(c, &list->stack_layout.thread_pointer) && skip_text(c, ",") &&
	       scan_hex(c, &list->stack_layout.bounds) && skip_text(c, ",") &&
	       scan_hex(c, &list->stack_layout.size);
}

void draft_read_memory(struct draft *draft, struct cursor c)
{
	struct block_list *list = &draft->dump.blocks;
	bool is_whole = true;

	list->is_listed = true;
	for (struct cursor word; next_word(&c, &word);) {
		if (skip_text(&word, "heap="))
			list->is_heap_known = word_is(&word, "known");
		else if (skip_text(&word, "allocator="))
			list->is_glibc = word_is(&word, "glibc");
		else if (skip_text(&word, "records="))
			list->has_jemalloc = word_is(&word, "jemalloc");
		else if (skip_text(&word, "roots="))
			list->are_roots_listed = word_is(&word, "listed");
		else if (skip_text(&word, "thread_pointer="))
			is_whole &= scan_hex(&word, &list->thread_pointer) && at_end(&word);
		else if (skip_text(&word, "thread_state="))
			is_whole &= scan_range(&word, &list->thread_state) && at_end(&word);
		else if (skip_text(&word, "stack_layout="))
			is_whole &= scan_stack_layout(&word, list) && at_end(&word);
		else if (skip_text(&word, "pointer_step="))
			is_whole &= scan_step(&word, &list->pointer_step) && at_end(&word);
	}
	if (!is_whole)
		draft_note_damage(draft, "the line memory is damaged");
}

static void read_range(struct draft *draft, struct cursor c, struct memory_range **ranges,
                       size_t *count, size_t *room)
{
	struct memory_range range;

	if (!scan_range(&c, &range) || !at_end(&c)) {
		draft_note_damage(draft, "an address is damaged");
		return;
	}
	GROW(*ranges, *room, *count + 1);
	(*ranges)[(*count)++] = range;
}

void draft_read_own(struct draft *draft, struct cursor c)
{
	struct block_list *list = &draft->dump.blocks;
	read_range(draft, c, &list->own, &list->own_count, &draft->own_room);
}

void draft_read_root(struct draft *draft, struct cursor c)
{
	struct block_list *list = &draft->dump.blocks;
	read_range(draft, c, &list->roots, &list->root_count, &draft->root_room);
}

void draft_read_stack(struct draft *draft, struct cursor c)
{
	struct block_list *list = &draft->dump.blocks;
	struct memory_range range;
	uint64_t sp;
	bool is_whole = scan_range(&c, &range);

	sp = range.start;
	if (is_whole && skip_text(&c, " sp="))
		is_whole = scan_hex(&c, &sp) && sp >= range.start && sp <= range.end;
	if (!is_whole || !at_end(&c)) {
		draft_note_damage(draft, "a stack is damaged");
		return;
	}
	GROW(list->stacks, draft->stack_room, list->stack_count + 1);
	list->stacks[list->stack_count++] = (struct listed_stack){range.start, range.end, sp};
}

void draft_read_blocks(struct draft *draft, struct cursor c)
{
	struct block_list *list = &draft->dump.blocks;

	for (struct cursor word; next_word(&c, &word);) {
		struct listed_block block = {.is_ignored = skip_text(&word, "ignored")};

		if ((!block.is_ignored && !scan_decimal(&word, &block.rank)) ||
		    !skip_text(&word, ":") || !scan_hex(&word, &block.address) ||
		    !skip_text(&word, "+") || !scan_decimal(&word, &block.size) || !at_end(&word) ||
		    block.size > UINT64_MAX - block.address) {
			draft_note_damage(draft, "a block is damaged");
			continue;
		}
		GROW(list->blocks, draft->block_room, list->count + 1);
		list->blocks[list->count++] = block;
	}
}
