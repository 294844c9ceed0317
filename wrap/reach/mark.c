/* mark.c - see mark.h. */
#include "wrap/reach/mark.h"

#include "wrap/arch/arch.h"
#include "wrap/base/options.h"
#include "wrap/live/block_index.h"
#include "wrap/live/slot.h"
#include "wrap/port/port.h"
#include "wrap/reach/interior.h"
#include "wrap/reach/maps.h"
#include "wrap/unwind/stack_bounds.h"

#include <string.h>

/* The bits of a block.  The two lower are its kind so far. */
enum {
	UNREACHED,
	POSSIBLE,
	REACHABLE,
	LOST, /* unreached, and its pointers were followed */
	KIND = 3,
	PENDING = 4,  /* its pointers must be followed, and it is not on the stack */
	INDIRECT = 8, /* another lost block leads to it */
	HALFWAY = 8,  /* it is REACHABLE, and begins in the second half of its window */
};

#define STACK_ROOM ((size_t)1 << 16)

/* Blocks from this size on may be sparse: pages that were never written to are skipped. */
#define SPARSE_MIN ((size_t)1 << 20)

/* How many blocks are scanned between two looks at the process of which this is a copy. */
#define BLOCKS_PER_LOOK 10000u

/* Memory is slow.  So what will be read soon is fetched, and waits meanwhile in three lines: words
 * whose block's bits are fetched, words whose block's slot is fetched, and blocks whose first words
 * are fetched.  Powers of two. */
#define WORDS_FETCHED  64u
#define SLOTS_FETCHED  16u
#define BLOCKS_FETCHED 16u

/* Takes WORD, an address in the region IN; NULL: in none.  What it means depends on where it was
 * read. */
typedef void take_word(const struct leakwrap_indexed_region *in, uintptr_t word);

/* A word that may be a pointer to a block in the region IN. */
struct candidate {
	uintptr_t word;
	const struct leakwrap_indexed_region *in;
	take_word *take;
};

/* A block whose pointers must be followed. */
struct followed {
	uintptr_t address;
	size_t size;
	take_word *take;
};

static struct {
	struct followed *stack;
	size_t depth;
	bool has_overflowed; /* blocks are PENDING, for want of room on the stack */
	struct candidate words[WORDS_FETCHED], slots[SLOTS_FETCHED];
	struct followed fetched[BLOCKS_FETCHED];
	/* How many went into the lines, and out of them. */
	unsigned words_in, words_out, slots_in, slots_out, blocks_in, blocks_out;
	unsigned step;         /* of the option pointer_step= */
	uintptr_t scanned_end; /* with it: where the last scan ended */
	int pagemap;
	uintptr_t readable_start, readable_end; /* the last readable memory that was looked up */
	/* The lost block whose pointers are followed: its address and call site. */
	uintptr_t leader;
	uint32_t leader_site;
	const struct leakwrap_verdicts *verdicts;
	int original;    /* the process of which this is a copy, or 0 */
	unsigned blocks; /* blocks until the next look at it */
} mark;

/* -- words ------------------------------------------------------------------------------------- */

/* Sets the bits of BLOCK, and puts it on the stack: TAKE gets its words. */
static void push(const struct leakwrap_indexed_block *block, unsigned bits, take_word *take)
{
	if (mark.depth < STACK_ROOM) {
		mark.stack[mark.depth++] = (struct followed){block->address, block->size, take};
	} else {
		mark.has_overflowed = true;
		bits |= PENDING;
	}
	leakwrap_block_set_bits(block, bits);
}

/* Returns the end of the readable memory that begins at ADDRESS, at most LIMIT. */
static uintptr_t readable_end(uintptr_t address, uintptr_t limit)
{
	if (address < mark.readable_start || limit > mark.readable_end) {
		const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(address);

		if (!mapping || limit > mapping->end || !mapping->is_readable ||
		    mapping->is_special)
			return leakwrap_maps_readable_end(address, limit);
		mark.readable_start = mapping->start;
		mark.readable_end = mapping->end;
	}
	return limit;
}

/* Returns whether WORD, which leads into BLOCK, is a usual way to hold it.  The memory of a block
 * that was freed unseen may be gone. */
static bool is_usual_interior(const struct leakwrap_indexed_block *block, uintptr_t word)
{
	const uintptr_t start = block->address, end = start + block->size;
	const uintptr_t head = block->size < INTERIOR_HEAD ? end : start + INTERIOR_HEAD;
	const uintptr_t there = end - word < sizeof(word) ? end : word + sizeof(word);

	return readable_end(start, head) == head && readable_end(word, there) == there &&
	       leakwrap_is_usual_interior(start, block->size, word);
}

static void take_from_reachable(const struct leakwrap_indexed_region *in, uintptr_t word);
static void take_from_possible(const struct leakwrap_indexed_region *in, uintptr_t word);

/* Takes WORD, read from a root or a reachable block, or from a possibly lost block. */
static inline void take_pointer(const struct leakwrap_indexed_region *in, uintptr_t word,
                                bool is_from_possible)
{
	struct leakwrap_indexed_block block;
	unsigned now;

	if (!leakwrap_block_index_find_in(in, word, &block))
		return;
	now = leakwrap_block_bits(&block);
	if ((now & KIND) == REACHABLE)
		return;
	if (block.is_parted)
		leakwrap_block_set_bits(&block, REACHABLE);
	else if (!is_from_possible && (word == block.address || is_usual_interior(&block, word)))
		push(&block, REACHABLE | (block.is_halfway ? HALFWAY : 0), take_from_reachable);
	else if ((now & KIND) != POSSIBLE)
		push(&block, POSSIBLE, take_from_possible);
}

static void take_from_reachable(const struct leakwrap_indexed_region *in, uintptr_t word)
{
	take_pointer(in, word, false);
}

static void take_from_possible(const struct leakwrap_indexed_region *in, uintptr_t word)
{
	take_pointer(in, word, true);
}

/* Takes WORD, read from a lost block: what it leads to is lost indirectly. */
static void take_from_lost(const struct leakwrap_indexed_region *in, uintptr_t word)
{
	struct leakwrap_indexed_block block;
	unsigned bits;

	if (!leakwrap_block_index_find_in(in, word, &block) || block.address == mark.leader ||
	    block.is_parted)
		return;
	bits = leakwrap_block_bits(&block);
	if ((bits & KIND) == POSSIBLE || (bits & KIND) == REACHABLE || (bits & INDIRECT) != 0)
		return;
	/* An earlier leader: its pointers have been followed. */
	if ((bits & KIND) == LOST)
		leakwrap_block_set_bits(&block, bits | INDIRECT);
	else
		push(&block, LOST | INDIRECT, take_from_lost);
}

/* Takes WORD, read from a lost block: counts the block that it leads to, once, at the leader. */
static void take_to_count(const struct leakwrap_indexed_region *in, uintptr_t word)
{
	struct leakwrap_indexed_block block;

	if (!leakwrap_block_index_find_in(in, word, &block) ||
	    leakwrap_block_bits(&block) != (LOST | INDIRECT))
		return;
	mark.verdicts->indirect(mark.verdicts->context, mark.leader_site, block.site, block.size);
	push(&block, UNREACHED | INDIRECT, take_to_count);
}

/* Returns whether WORD, an address in IN, leads to a reachable block for sure: nobody needs to take
 * it.  Where blocks lie in each other or have no slot, it may lead to another block than the one
 * that begins in its window. */
static inline bool is_settled(const struct leakwrap_indexed_region *in, uintptr_t word)
{
	const struct leakwrap_window_bits at = leakwrap_window_bits_of(in, word);
	const unsigned bits = *at.byte >> at.shift;

	return (bits & KIND) == REACHABLE && ((bits & HALFWAY) == 0 || at.is_halfway) &&
	       !in->has_overlap && !in->has_exact;
}

/* Passes the oldest word whose slot was fetched on to its function. */
static void take_oldest(void)
{
	const struct candidate *const oldest = &mark.slots[mark.slots_out++ % SLOTS_FETCHED];

	if (!is_settled(oldest->in, oldest->word))
		oldest->take(oldest->in, oldest->word);
}

/* Looks at the bits of the oldest word whose bits were fetched.  Fetches its slot if it must be
 * taken. */
static inline void look_at_oldest(void)
{
	const struct candidate *const oldest = &mark.words[mark.words_out++ % WORDS_FETCHED];
	uint32_t within;

	if (is_settled(oldest->in, oldest->word))
		return;
	__builtin_prefetch(leakwrap_slot_of(oldest->in->region, oldest->word, &within));
	if (mark.slots_in - mark.slots_out == SLOTS_FETCHED)
		take_oldest();
	mark.slots[mark.slots_in++ % SLOTS_FETCHED] = *oldest;
}

/* Takes all words that wait. */
static void take_waiting(void)
{
	while (mark.words_in != mark.words_out)
		look_at_oldest();
	while (mark.slots_in != mark.slots_out)
		take_oldest();
}

/* -- memory ------------------------------------------------------------------------------------ */

#ifdef LEAKWRAP_UNTAG
#define UNTAG(word) LEAKWRAP_UNTAG(word)
#else
#define UNTAG(word) (word)
#endif

/* Lets WORD wait for TAKE, unless it is known already what it leads to. */
static __attribute__((noinline)) void add_word(uintptr_t word, take_word *take)
{
	const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(word);

	if (!in) {
		take(NULL, word);
		return;
	}
	__builtin_prefetch(leakwrap_window_bits_of(in, word).byte);
	if (mark.words_in - mark.words_out == WORDS_FETCHED)
		look_at_oldest();
	mark.words[mark.words_in++ % WORDS_FETCHED] = (struct candidate){word, in, take};
}

/* As scan, for words at each step of the option pointer_step=. */
static __attribute__((noinline)) void scan_in_steps(uintptr_t start, uintptr_t end, take_word *take)
{
	const uintptr_t low = leakwrap_block_index.low, size = leakwrap_block_index.high - low;
	const uintptr_t step = mark.step;
	uintptr_t stored;

	/* A word may begin in the memory that was scanned before. */
	if (start == mark.scanned_end)
		start -= sizeof(stored) - step;
	mark.scanned_end = end;
	start = (start + step - 1) & ~(step - 1);
	for (; start < end && end - start >= sizeof(stored); start += step) {
		memcpy(&stored, (const void *)start, sizeof(stored));

		const uintptr_t word = UNTAG(stored);

		if (word - low < size)
			add_word(word, take);
	}
}

/* Calls TAKE for each word from START to END, which can be read, that may lead to a block.  May do
 * so later: take_waiting. */
static void scan(uintptr_t start, uintptr_t end, take_word *take)
{
	const uintptr_t low = leakwrap_block_index.low, size = leakwrap_block_index.high - low;

	if (leakwrap_unlikely(mark.step != 0)) {
		scan_in_steps(start, end, take);
		return;
	}
	start = (start + sizeof(start) - 1) & ~(sizeof(start) - 1);
	end &= ~(sizeof(end) - 1);
	for (; start < end; start += sizeof(start)) {
		const uintptr_t word = UNTAG(leakwrap_stack_word(start));

		/* Most words are no addresses of the heap. */
		if (leakwrap_unlikely(word - low < size))
			add_word(word, take);
	}
}

/* As scan, for the pages from START to END that were written to. */
static void scan_sparse(uintptr_t start, uintptr_t end, take_word *take)
{
	size_t page;

	while (start < end) {
		const uint64_t written = leakwrap_pages_written(
		        mark.pagemap, (const void *)(start & ~(uintptr_t)(LEAKWRAP_PAGE - 1)),
		        &page);
		uintptr_t at = start & ~(page - 1);

		for (unsigned i = 0; i < LEAKWRAP_PAGES_AT_ONCE && at < end; i++, at += page)
			if (written >> i & 1)
				scan(at > start ? at : start, at + page < end ? at + page : end,
				     take);
		start = at;
	}
}

/* Ends a copy whose original has ended: nobody waits for its dump. */
static void check_original(void)
{
	if (mark.blocks-- > 0)
		return;
	mark.blocks = BLOCKS_PER_LOOK;
	if (mark.original != 0 && leakwrap_process_parent_id() != mark.original)
		leakwrap_process_end(1);
}

/* Scans a block of SIZE bytes at ADDRESS. */
static void scan_block(uintptr_t address, size_t size, take_word *take)
{
	const uintptr_t end = address + size;

	check_original();
	/* A program may have protected a part of it. */
	while (address < end) {
		const uintptr_t readable = readable_end(address, end);

		if (readable - address >= SPARSE_MIN)
			scan_sparse(address, readable, take);
		else
			scan(address, readable, take);
		address = (readable & ~(uintptr_t)(LEAKWRAP_PAGE - 1)) + LEAKWRAP_PAGE;
	}
}

/* Follows the blocks on the stack, and those that they lead to. */
static void follow_stack(void)
{
	struct followed next;

	do {
		if (mark.depth == 0 && mark.blocks_in == mark.blocks_out)
			take_waiting();
		while (mark.blocks_in - mark.blocks_out < BLOCKS_FETCHED && mark.depth > 0) {
			next = mark.stack[--mark.depth];
			mark.fetched[mark.blocks_in++ % BLOCKS_FETCHED] = next;
			__builtin_prefetch((const void *)next.address);
			__builtin_prefetch((const void *)(next.address + next.size - 1));
		}
		if (mark.blocks_in == mark.blocks_out)
			break;
		next = mark.fetched[mark.blocks_out++ % BLOCKS_FETCHED];
		scan_block(next.address, next.size, next.take);
	} while (true);
}

/* Puts BLOCK on the stack if it is PENDING.  TAKE: NULL if its kind decides. */
static void push_if_pending(void *context, const struct leakwrap_indexed_block *block)
{
	const unsigned bits = leakwrap_block_bits(block);
	take_word *take = *(take_word *const *)context;

	if ((bits & PENDING) == 0)
		return;
	if (!take)
		take = (bits & KIND) == REACHABLE ? take_from_reachable : take_from_possible;
	/* Half of the stack stays free for what these blocks lead to. */
	if (mark.depth >= STACK_ROOM / 2)
		follow_stack();
	push(block, bits & ~(unsigned)PENDING, take);
}

/* Follows the pointers of all blocks that are on the stack or PENDING.  TAKE: what their words
 * mean; NULL if the kind of a block decides. */
static void follow_all(take_word *take)
{
	follow_stack();
	while (mark.has_overflowed) {
		mark.has_overflowed = false;
		leakwrap_block_index_each(push_if_pending, &take);
		follow_stack();
	}
}

/* -- lost blocks ------------------------------------------------------------------------------- */

/* Follows the pointers of BLOCK if nothing has led to it so far. */
static void follow_unreached(void *context, const struct leakwrap_indexed_block *block)
{
	(void)context;
	if (leakwrap_block_bits(block) != UNREACHED)
		return;
	mark.leader = block->address;
	leakwrap_block_set_bits(block, LOST);
	scan_block(block->address, block->size, take_from_lost);
	follow_all(take_from_lost);
}

/* Tells the verdict about BLOCK, and those about the blocks that it leads to if it is definitely
 * lost. */
static void give_verdict(void *context, const struct leakwrap_indexed_block *block)
{
	const struct leakwrap_verdicts *const verdicts = mark.verdicts;

	(void)context;
	switch (leakwrap_block_bits(block)) {
	case REACHABLE:
	case REACHABLE | HALFWAY:
		verdicts->reachable(verdicts->context, block->site, block->size);
		break;
	case POSSIBLE:
		verdicts->possible(verdicts->context, block->site, block->size);
		break;
	case LOST:
		verdicts->definite(verdicts->context, block->site, block->size);
		mark.leader = block->address;
		mark.leader_site = block->site;
		scan_block(block->address, block->size, take_to_count);
		follow_all(take_to_count);
		break;
	default: /* indirectly lost: told with its leader */
		break;
	}
}

/* -- the public functions ---------------------------------------------------------------------- */

bool leakwrap_mark_start(int original)
{
	if (!leakwrap_block_index_build())
		return false;
	mark.stack = leakwrap_scratch_map(STACK_ROOM * sizeof(*mark.stack));
	if (!mark.stack) {
		leakwrap_block_index_release();
		return false;
	}
	mark.original = original;
	mark.depth = 0;
	mark.step = leakwrap_options.pointer_step;
	mark.scanned_end = 0;
	mark.has_overflowed = false;
	mark.words_in = mark.words_out = mark.slots_in = mark.slots_out = 0;
	mark.blocks_in = mark.blocks_out = 0;
	mark.readable_start = mark.readable_end = 0;
	mark.pagemap = leakwrap_pagemap_open();
	return true;
}

void leakwrap_mark_end(void)
{
	if (mark.pagemap >= 0)
		leakwrap_close(mark.pagemap);
	leakwrap_scratch_unmap(mark.stack, STACK_ROOM * sizeof(*mark.stack));
	leakwrap_block_index_release();
}

void leakwrap_mark_own_memory(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&mark;
	*end = (uintptr_t)(&mark + 1);
}

void leakwrap_mark_word(uintptr_t word)
{
	const uintptr_t address = UNTAG(word);

	if (!leakwrap_is_outside_of_blocks(address, address + 1))
		take_from_reachable(leakwrap_indexed_region_at(address), address);
}

void leakwrap_mark_range(uintptr_t start, uintptr_t end)
{
	scan(start, end, take_from_reachable);
}

void leakwrap_mark_block(uintptr_t address)
{
	struct leakwrap_indexed_block block;

	if (!leakwrap_is_outside_of_blocks(address, address + 1) &&
	    leakwrap_block_index_find(address, &block))
		take_from_reachable(leakwrap_indexed_region_at(block.address), block.address);
}

/* Blocks that the program ignores are roots.  So are blocks whose parts are blocks: an allocator
 * hands them out. */
static void mark_known(void *context, const struct leakwrap_indexed_block *block)
{
	(void)context;
	if (block->is_parted)
		leakwrap_block_set_bits(block, REACHABLE);
	else if (block->site == LEAKWRAP_SITE_IGNORED &&
	         (leakwrap_block_bits(block) & KIND) != REACHABLE)
		push(block, REACHABLE | (block->is_halfway ? HALFWAY : 0), take_from_reachable);
}

void leakwrap_mark_finish(const struct leakwrap_verdicts *verdicts)
{
	mark.verdicts = verdicts;
	if (leakwrap_block_index.ignored_count > 0 || leakwrap_block_index.parted_count > 0)
		leakwrap_block_index_each(mark_known, NULL);
	follow_all(NULL);
	leakwrap_block_index_each_clear(follow_unreached, NULL);
	leakwrap_block_index_each(give_verdict, NULL);
}
