/* mark.c - see mark.h. */
#include "wrap/reach/mark.h"

#include "wrap/arch/arch.h"
#include "wrap/live/block_index.h"
#include "wrap/live/slot.h"
#include "wrap/port/port.h"
#include "wrap/reach/interior.h"
#include "wrap/reach/maps.h"
#include "wrap/unwind/stack_bounds.h"

/* The bits of a block.  The two lower are its kind so far. */
enum {
	UNREACHED,
	POSSIBLE,
	REACHABLE,
	LOST, /* unreached, and its pointers were followed */
	KIND = 3,
	PENDING = 4,  /* its pointers must be followed */
	INDIRECT = 8, /* another lost block leads to it */
};

#define STACK_ROOM ((size_t)1 << 16)

/* Blocks from this size on may be sparse: pages that were never written to are skipped. */
#define SPARSE_MIN ((size_t)1 << 20)

/* How many blocks are scanned between two looks at the process of which this is a copy. */
#define BLOCKS_PER_LOOK 10000u

static struct {
	struct leakwrap_block_range range;
	uintptr_t *stack; /* addresses of blocks that are PENDING */
	size_t depth;
	bool has_overflowed; /* more blocks are PENDING than the stack holds */
	int pagemap;
	/* The lost block whose pointers are followed: its address and call site. */
	uintptr_t leader;
	uint32_t leader_site;
	const struct leakwrap_verdicts *verdicts;
	int original;    /* the process of which this is a copy, or 0 */
	unsigned blocks; /* blocks until the next look at it */
} mark;

/* What a word means depends on where it was read. */
typedef void take_word(uintptr_t word);

/* -- following pointers ------------------------------------------------------------------------ */

static void push(const struct leakwrap_indexed_block *block, unsigned bits)
{
	leakwrap_block_set_bits(block, bits | PENDING);
	if (mark.depth < STACK_ROOM)
		mark.stack[mark.depth++] = block->address;
	else
		mark.has_overflowed = true;
}

/* Finds the block that WORD leads to.  Returns false if it is no pointer to a block. */
static bool find_block(uintptr_t word, struct leakwrap_indexed_block *block)
{
	return word - mark.range.low < mark.range.high - mark.range.low &&
	       leakwrap_block_index_find(word, block);
}

/* Takes WORD, read from a root or a reachable block, or from a possibly lost block. */
static void take_pointer(uintptr_t word, bool is_from_possible)
{
	struct leakwrap_indexed_block block;
	unsigned kind, now;

	if (!find_block(word, &block))
		return;
	now = leakwrap_block_bits(&block);
	if ((now & KIND) == REACHABLE)
		return;
	kind = !is_from_possible &&
	                       (word == block.address || leakwrap_is_usual_interior(&block, word))
	               ? REACHABLE
	               : POSSIBLE;
	if (block.is_parted)
		leakwrap_block_set_bits(&block, REACHABLE);
	else if (kind > (now & KIND))
		push(&block, kind);
}

static void take_from_reachable(uintptr_t word)
{
	take_pointer(word, false);
}

static void take_from_possible(uintptr_t word)
{
	take_pointer(word, true);
}

/* Takes WORD, read from a lost block: what it leads to is lost indirectly. */
static void take_from_lost(uintptr_t word)
{
	struct leakwrap_indexed_block block;
	unsigned bits;

	if (!find_block(word, &block) || block.address == mark.leader || block.is_parted)
		return;
	bits = leakwrap_block_bits(&block);
	if ((bits & INDIRECT) != 0 || (bits & KIND) == POSSIBLE || (bits & KIND) == REACHABLE)
		return;
	/* An earlier leader: its pointers have been followed. */
	if ((bits & KIND) == LOST)
		leakwrap_block_set_bits(&block, bits | INDIRECT);
	else
		push(&block, LOST | INDIRECT);
}

/* Takes WORD, read from a lost block: counts the block that it leads to, once, at the leader. */
static void take_to_count(uintptr_t word)
{
	struct leakwrap_indexed_block block;

	if (!find_block(word, &block) || leakwrap_block_bits(&block) != (LOST | INDIRECT))
		return;
	mark.verdicts->indirect(mark.verdicts->context, mark.leader_site, block.site, block.size);
	push(&block, UNREACHED | INDIRECT);
}

#ifdef LEAKWRAP_UNTAG
#define UNTAG(word) LEAKWRAP_UNTAG(word)
#else
#define UNTAG(word) (word)
#endif

/* Calls TAKE for each word from START to END, which can be read. */
static inline void scan(uintptr_t start, uintptr_t end, take_word *take)
{
	const uintptr_t low = mark.range.low, size = mark.range.high - low;

	start = (start + sizeof(start) - 1) & ~(sizeof(start) - 1);
	for (uintptr_t at = start; at + sizeof(at) <= end; at += sizeof(at)) {
		const uintptr_t word = UNTAG(leakwrap_stack_word(at));

		/* Most words are no addresses of the heap. */
		if (word - low < size)
			take(word);
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

static void scan_block(const struct leakwrap_indexed_block *block, take_word *take)
{
	uintptr_t at = block->address;
	const uintptr_t end = at + block->size;

	check_original();
	/* A program may have protected a part of it. */
	while (at < end) {
		const uintptr_t readable = leakwrap_maps_readable_end(at, end);

		if (readable - at >= SPARSE_MIN)
			scan_sparse(at, readable, take);
		else
			scan(at, readable, take);
		at = (readable & ~(uintptr_t)(LEAKWRAP_PAGE - 1)) + LEAKWRAP_PAGE;
	}
}

/* Follows the pointers of BLOCK.  TAKE: NULL if its kind decides. */
static void follow(const struct leakwrap_indexed_block *block, take_word *take)
{
	const unsigned bits = leakwrap_block_bits(block) & ~(unsigned)PENDING;

	leakwrap_block_set_bits(block, bits);
	if (!take)
		take = (bits & KIND) == REACHABLE ? take_from_reachable : take_from_possible;
	scan_block(block, take);
}

/* Blocks on their way from the stack, in the order in which they were fetched: memory is slow, and
 * lists are long.  A power of two. */
#define FETCHED 16u

static void follow_stack(take_word *take)
{
	uintptr_t fetched[FETCHED];
	unsigned first = 0, behind = 0;
	struct leakwrap_indexed_block block;

	do {
		for (; behind - first < FETCHED && mark.depth > 0; behind++) {
			const uintptr_t address = mark.stack[--mark.depth];

			fetched[behind % FETCHED] = address;
			__builtin_prefetch((const void *)address);
		}
		if (first == behind)
			break;
		if (leakwrap_block_index_find(fetched[first++ % FETCHED], &block) &&
		    (leakwrap_block_bits(&block) & PENDING) != 0)
			follow(&block, take);
	} while (true);
}

static void follow_if_pending(void *context, const struct leakwrap_indexed_block *block)
{
	take_word *const *take = context;

	if ((leakwrap_block_bits(block) & PENDING) != 0) {
		follow(block, *take);
		follow_stack(*take);
	}
}

/* Follows the pointers of all blocks that are PENDING. */
static void follow_all(take_word *take)
{
	follow_stack(take);
	while (mark.has_overflowed) {
		mark.has_overflowed = false;
		leakwrap_block_index_each(follow_if_pending, &take);
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
	scan_block(block, take_from_lost);
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
		verdicts->reachable(verdicts->context, block->site, block->size);
		break;
	case POSSIBLE:
		verdicts->possible(verdicts->context, block->site, block->size);
		break;
	case LOST:
		verdicts->definite(verdicts->context, block->site, block->size);
		mark.leader = block->address;
		mark.leader_site = block->site;
		scan_block(block, take_to_count);
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
	mark.has_overflowed = false;
	mark.range = leakwrap_block_index_range();
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
	take_from_reachable(UNTAG(word));
}

void leakwrap_mark_range(uintptr_t start, uintptr_t end)
{
	scan(start, end, take_from_reachable);
}

void leakwrap_mark_block(uintptr_t address)
{
	struct leakwrap_indexed_block block;

	if (find_block(address, &block))
		take_from_reachable(block.address);
}

/* Blocks that the program ignores are roots.  So are blocks whose parts are blocks: an allocator
 * hands them out. */
static void mark_known(void *context, const struct leakwrap_indexed_block *block)
{
	(void)context;
	if (block->is_parted)
		leakwrap_block_set_bits(block, REACHABLE);
	else if (block->site == LEAKWRAP_SITE_IGNORED && leakwrap_block_bits(block) < REACHABLE)
		push(block, REACHABLE);
}

void leakwrap_mark_finish(const struct leakwrap_verdicts *verdicts)
{
	mark.verdicts = verdicts;
	leakwrap_block_index_each(mark_known, NULL);
	follow_all(NULL);
	leakwrap_block_index_each(follow_unreached, NULL);
	leakwrap_block_index_each(give_verdict, NULL);
}
