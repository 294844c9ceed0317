/* mark.c - see mark.h. */
#include "wrap/reach/mark.h"

#include "wrap/base/common.h"
#include "wrap/live/block_index.h"
#include "wrap/live/slot.h"
#include "wrap/port/port.h"
#include "wrap/reach/interior.h"
#include "wrap/reach/offsets.h"
#include "wrap/reach/pointee.h"
#include "wrap/reach/pools.h"
#include "wrap/reach/slabs.h"
#include "wrap/reach/sums.h"
#include "wrap/reach/word_scan.h"
#include "wrap/rules/based_rules.h"

#define STACK_ROOM ((size_t)1 << 16)

/* Possibly lost blocks that wait until all reachable blocks have been followed. */
#define DEFERRED_ROOM ((size_t)1 << 14)

#define STACK_SIZE    ((STACK_ROOM + DEFERRED_ROOM) * sizeof(struct followed))

/* How many blocks are scanned between two looks at the process of which this is a copy. */
#define BLOCKS_PER_LOOK 10000u

/* Memory is slow.  So what will be read soon is fetched, and waits meanwhile in one of three
 * queues, each a ring.  A word waits in words until its block's bits are in the cache, then in
 * slots until its block's slot is.  A block waits in fetched until its first words are.  The sizes
 * are powers of two. */
#define WORDS_FETCHED  64u
#define SLOTS_FETCHED  16u
#define BLOCKS_FETCHED 16u

/* A word that may be a pointer to a block in the region IN. */
struct candidate {
	uintptr_t word;
	uintptr_t place; /* the address where it stands; 0: in a register */
	const struct leakwrap_indexed_region *in;
};

/* A block whose pointers must be followed. */
struct followed {
	uintptr_t address;
	size_t size;
};

static struct {
	/* Takes WORD, an address in the region IN; NULL: in none.  WORD stands at PLACE; 0: in a
	 * register.  The blocks that are followed are all of one kind, which decides what their
	 * words mean. */
	void (*take)(const struct leakwrap_indexed_region *in, uintptr_t word, uintptr_t place);
	struct followed *stack;
	size_t depth;
	bool has_overflowed; /* blocks are pending, for want of room on the stack */
	/* Blocks that a reachable word leads into.  Most turn out to be reachable: to follow them
	 * at once would follow what they lead to twice. */
	struct followed *deferred;
	size_t deferred_count;
	bool has_more_deferred; /* LEAKWRAP_IS_POSSIBLE blocks are pending, for want of room */
	unsigned reachable;     /* LEAKWRAP_IS_REACHABLE as long as bits mean that, then 0 */
	struct candidate words[WORDS_FETCHED], slots[SLOTS_FETCHED];
	struct followed fetched[BLOCKS_FETCHED];
	/* How many ever went into the queues, and out of them. */
	unsigned words_in, words_out, slots_in, slots_out, blocks_in, blocks_out;
	struct leakwrap_word_scan scan;
	/* The lost block whose pointers are followed: its address and call site. */
	uintptr_t leader;
	uint32_t leader_site;
	const struct leakwrap_sums *sums;
	int original;    /* the process of which this is a copy, or 0 */
	unsigned blocks; /* blocks until the next look at it */
} mark;

/* -- words ------------------------------------------------------------------------------------- */

/* Puts the block of SIZE bytes at ADDRESS on the stack.  Returns false if there is no room. */
static inline bool push_on_stack(uintptr_t address, size_t size)
{
	if (leakwrap_unlikely(mark.depth >= STACK_ROOM))
		return false;
	mark.stack[mark.depth++] = (struct followed){address, size};
	return true;
}

/* Sets the bits of BLOCK, and puts it on the stack.  If there is no room, makes it pending: its
 * pointers are followed later. */
static void push(const struct leakwrap_indexed_block *block, unsigned bits)
{
	leakwrap_block_set_bits(block, bits);
	if (push_on_stack(block->address, block->size))
		return;
	mark.has_overflowed = true;
	leakwrap_block_set_pending(block, true);
}

/* Makes BLOCK possibly lost for now.  It is followed when all reachable blocks have been. */
static void defer(const struct leakwrap_indexed_block *block)
{
	leakwrap_block_set_bits(block, LEAKWRAP_IS_POSSIBLE);
	if (mark.deferred_count < DEFERRED_ROOM) {
		mark.deferred[mark.deferred_count++] =
		        (struct followed){block->address, block->size};
	} else {
		mark.has_more_deferred = true;
		leakwrap_block_set_pending(block, true);
	}
}

/* Returns whether SIZE bytes at ADDRESS, which may be any word, can be read.  The memory of a block
 * that was freed unseen may be gone. */
static bool is_readable(uintptr_t address, size_t size)
{
	return leakwrap_word_scan_can_read(&mark.scan, address, size);
}

/* Makes the block reachable to whose first byte WORD, an address in IN, leads.  Returns false and
 * changes nothing if WORD leads elsewhere, the block is large or possibly lost, blocks may lie in
 * each other, or the stack is full. */
static inline bool take_first_byte(const struct leakwrap_indexed_region *in, uintptr_t word)
{
	struct leakwrap_window at;
	uint32_t value;
	unsigned bits;

	if (!in || in->has_overlap)
		return false;
	at = leakwrap_window_of(in, word);
	value = atomic_load_explicit(&in->slots[at.number], memory_order_relaxed);
	if (!leakwrap_slot_has_small_block(value, at.within))
		return false;
	bits = (unsigned)*at.byte >> at.shift & 3u;
	if ((bits & LEAKWRAP_IS_REACHABLE) != 0)
		return true;
	if (bits != LEAKWRAP_IS_UNREACHED || !push_on_stack(word, leakwrap_slot_small_size(value)))
		return false;
	*at.byte |= (uint8_t)(leakwrap_reachable_bits(at.is_halfway) << at.shift);
	return true;
}

/* Notes that WORD leads into BLOCK.  Returns whether that makes the block a slab, or leads back to
 * its start.  The latter takes long to find out, and is asked once for each of the first places. */
static bool is_place_of_whole(const struct leakwrap_indexed_block *block, uintptr_t word)
{
	switch (leakwrap_slabs_add(block->address, block->size, word)) {
	case LEAKWRAP_PLACE_NEW:
		return leakwrap_leads_back(block->address, block->size, word, is_readable);
	case LEAKWRAP_PLACE_OF_SLAB:
		return true;
	default:
		return false;
	}
}

/* Does what take_from_reachable does, for words that take_first_byte leaves.  Not inlined: it has
 * the larger frame. */
static __attribute__((noinline)) void take_other(const struct leakwrap_indexed_region *in,
                                                 uintptr_t word, uintptr_t place)
{
	struct leakwrap_indexed_block block;
	unsigned now;

	if (!leakwrap_pointee_find(in, word, place, &block, is_readable))
		return;
	now = leakwrap_block_bits(&block);
	if ((now & LEAKWRAP_IS_REACHABLE) != 0) {
		/* The next words that lead there are settled. */
		if (in)
			leakwrap_block_set_bits_inside(in, word, &block, LEAKWRAP_IS_REACHABLE);
		return;
	}
	if (block.is_parted)
		leakwrap_block_set_bits(&block, LEAKWRAP_IS_REACHABLE);
	else if (word == block.address ||
	         leakwrap_is_usual_interior(block.address, block.size, word, place, is_readable) ||
	         is_place_of_whole(&block, word))
		push(&block, leakwrap_reachable_bits(block.is_halfway));
	else if (now != LEAKWRAP_IS_POSSIBLE)
		defer(&block);
}

/* Takes WORD, read at PLACE in a root or a reachable block. */
static void take_from_reachable(const struct leakwrap_indexed_region *in, uintptr_t word,
                                uintptr_t place)
{
	if (leakwrap_unlikely(!take_first_byte(in, word)))
		take_other(in, word, place);
}

/* Takes WORD, read from a possibly lost block. */
static void take_from_possible(const struct leakwrap_indexed_region *in, uintptr_t word,
                               uintptr_t place)
{
	struct leakwrap_indexed_block block;

	if (!leakwrap_pointee_find(in, word, place, &block, is_readable))
		return;
	if (block.is_parted)
		leakwrap_block_set_bits(&block, LEAKWRAP_IS_REACHABLE);
	else if (leakwrap_block_bits(&block) == LEAKWRAP_IS_UNREACHED)
		push(&block, LEAKWRAP_IS_POSSIBLE);
}

/* Takes WORD, read from a lost block: what it leads to is lost indirectly. */
static void take_from_lost(const struct leakwrap_indexed_region *in, uintptr_t word,
                           uintptr_t place)
{
	struct leakwrap_indexed_block block;
	unsigned bits;

	if (!leakwrap_pointee_find(in, word, place, &block, is_readable) ||
	    block.address == mark.leader || block.is_parted)
		return;
	bits = leakwrap_block_bits(&block);
	/* An earlier leader: its pointers have been followed. */
	if (bits == LEAKWRAP_IS_LOST)
		leakwrap_block_set_bits(&block, LEAKWRAP_IS_INDIRECT);
	else if (bits == LEAKWRAP_IS_UNREACHED)
		push(&block, LEAKWRAP_IS_INDIRECT);
}

/* Takes WORD, read from a lost block: counts the block that it leads to, once, at the leader. */
static void take_to_count(const struct leakwrap_indexed_region *in, uintptr_t word, uintptr_t place)
{
	struct leakwrap_indexed_block block;

	if (!leakwrap_pointee_find(in, word, place, &block, is_readable) ||
	    leakwrap_block_bits(&block) != LEAKWRAP_IS_INDIRECT)
		return;
	leakwrap_add_indirect(mark.sums, mark.leader_site, block.site, block.size);
	push(&block, LEAKWRAP_IS_SETTLED);
}

/* Returns whether an address of the window AT in IN leads to a reachable block for sure: nobody
 * needs to take it.  Where blocks lie in each other or have no slot, it may lead to another block
 * than the one that begins in its window. */
static inline bool is_settled(const struct leakwrap_indexed_region *in, struct leakwrap_window at)
{
	const unsigned bits = (unsigned)*at.byte >> at.shift;

	return (bits & mark.reachable) != 0 &&
	       ((bits & LEAKWRAP_IS_HALFWAY) == 0 || at.is_halfway) && !in->has_overlap &&
	       !in->has_exact;
}

/* Takes the oldest word whose slot was fetched. */
static inline void take_oldest(void)
{
	const struct candidate *const oldest = &mark.slots[mark.slots_out++ % SLOTS_FETCHED];

	mark.take(oldest->in, oldest->word, oldest->place);
}

/* Looks at the bits of the oldest word whose bits were fetched.  Fetches its slot if it must be
 * taken. */
static __attribute__((noinline)) void look_at_oldest(void)
{
	const struct candidate oldest = mark.words[mark.words_out++ % WORDS_FETCHED];
	const struct leakwrap_window at = leakwrap_window_around(oldest.in, oldest.word);

	if (is_settled(oldest.in, at))
		return;
	__builtin_prefetch((const void *)&oldest.in->slots[at.number]);
	mark.slots[mark.slots_in++ % SLOTS_FETCHED] = oldest;
	if (mark.slots_in - mark.slots_out == SLOTS_FETCHED)
		take_oldest();
}

/* Takes all words that wait. */
static void take_waiting(void)
{
	/* The next node of a list waits alone. */
	if (mark.words_in - mark.words_out == 1 && mark.slots_in == mark.slots_out) {
		const struct candidate *const only = &mark.words[mark.words_out++ % WORDS_FETCHED];

		mark.take(only->in, only->word, only->place);
		return;
	}
	while (mark.words_in != mark.words_out)
		look_at_oldest();
	while (mark.slots_in != mark.slots_out)
		take_oldest();
}

/* Lets WORD, which stands at PLACE, wait until it is taken. */
static inline void wait_for(uintptr_t word, uintptr_t place)
{
	const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(word);

	if (!in) {
		mark.take(NULL, word, place);
		return;
	}
	__builtin_prefetch(leakwrap_window_around(in, word).byte);
	mark.words[mark.words_in++ % WORDS_FETCHED] = (struct candidate){word, place, in};
	if (mark.words_in - mark.words_out == WORDS_FETCHED)
		look_at_oldest();
}

/* Lets the block wait that has an array whose element or row 0 would be at WORD, which stands at
 * PLACE, unless there is none. */
static __attribute__((noinline)) void add_array(uintptr_t word, uintptr_t place, bool has_rows)
{
	const uintptr_t array = leakwrap_array_of(word, place, has_rows, is_readable);

	if (array != 0)
		wait_for(array, place);
}

/* Returns whether the bytes around PLACE may be those of an array (based_rules.h).  Few are.
 * Memory at PLACE can be read, unless PLACE is 0. */
static inline bool may_have_array(uintptr_t place, bool has_rows)
{
	const uintptr_t first = leakwrap_based_numbers(place, sizeof(place), has_rows);
	const uintptr_t byte = leakwrap_based_byte(place, sizeof(place), has_rows);

	if (((first ^ place) | (byte ^ place)) >= LEAKWRAP_PAGE &&
	    !is_readable(first, (byte > place ? byte : place) + 1 - first))
		return false;
	return *(const uint8_t *)byte == 1;
}

/* Lets WORD, which stands at PLACE, and the array that is held by it wait until they are taken. */
static __attribute__((noinline)) void add_word(uintptr_t word, uintptr_t place)
{
	if (leakwrap_unlikely(may_have_array(place, false)))
		add_array(word, place, false);
	if (leakwrap_unlikely(may_have_array(place, true)))
		add_array(word, place, true);
	wait_for(word, place);
}

/* -- blocks ------------------------------------------------------------------------------------ */

/* Ends a copy whose original has ended: nobody waits for its dump. */
static void check_original(void)
{
	if (mark.blocks-- > 0)
		return;
	mark.blocks = BLOCKS_PER_LOOK;
	if (mark.original != 0 && leakwrap_process_has_lost_parent(mark.original))
		leakwrap_process_end(1);
}

/* Takes the words of SIZE bytes at ADDRESS, in a block.  May do so later: take_waiting. */
static void scan_words(uintptr_t address, size_t size)
{
	check_original();
	leakwrap_word_scan_block(&mark.scan, address, size);
}

/* The first bytes of a block that tell whether it holds others by distances. */
#define BYTES_THAT_TELL 8u

/* Takes what the block of SIZE bytes at ADDRESS holds by distances. */
static __attribute__((noinline)) void take_at_distance(uintptr_t address, size_t size)
{
	if (leakwrap_may_have_elements(address, size))
		leakwrap_offsets_take_elements(address, size, add_word, is_readable);
	else if (is_readable(address, size) && leakwrap_may_have_offsets(address))
		leakwrap_offsets_take(address, add_word, is_readable);
}

/* Takes the words of a block of SIZE bytes at ADDRESS, and what it holds by distances, as
 * scan_words does.  Few blocks hold others so. */
static void scan_block(uintptr_t address, size_t size)
{
	scan_words(address, size);
	if (size > BYTES_THAT_TELL && address % sizeof(uintptr_t) == 0 &&
	    (leakwrap_likely(
	             leakwrap_word_scan_has_looked_at(&mark.scan, address, BYTES_THAT_TELL)) ||
	     is_readable(address, BYTES_THAT_TELL)) &&
	    leakwrap_unlikely(leakwrap_may_have_elements(address, size) ||
	                      size == LEAKWRAP_OFFSETS_SIZE))
		take_at_distance(address, size);
}

/* Follows the blocks on the stack, and those that they lead to. */
static void follow_stack(void)
{
	for (;;) {
		struct followed next;

		if (mark.blocks_in != mark.blocks_out || mark.depth > 1) {
			while (mark.depth > 0 &&
			       mark.blocks_in - mark.blocks_out < BLOCKS_FETCHED) {
				next = mark.stack[--mark.depth];
				mark.fetched[mark.blocks_in++ % BLOCKS_FETCHED] = next;
				__builtin_prefetch((const void *)next.address);
				__builtin_prefetch((const void *)(next.address + next.size - 1));
			}
			next = mark.fetched[mark.blocks_out++ % BLOCKS_FETCHED];
		} else if (mark.depth == 1) {
			next = mark.stack[--mark.depth];
		} else if (mark.words_in != mark.words_out || mark.slots_in != mark.slots_out) {
			take_waiting();
			continue;
		} else {
			return;
		}
		scan_block(next.address, next.size);
	}
}

/* Puts BLOCK, which is pending, on the stack, unless it must wait for reachable blocks. */
static void push_pending(void *context, const struct leakwrap_indexed_block *block)
{
	const unsigned bits = leakwrap_block_bits(block);

	(void)context;
	if (bits == LEAKWRAP_IS_POSSIBLE && mark.take == take_from_reachable)
		return;
	/* Half of the stack stays free for what these blocks lead to. */
	if (mark.depth >= STACK_ROOM / 2)
		follow_stack();
	leakwrap_block_set_pending(block, false);
	push(block, bits);
}

/* Follows the pointers of all blocks that are on the stack or pending. */
static void follow_all(void)
{
	follow_stack();
	while (mark.has_overflowed) {
		mark.has_overflowed = false;
		leakwrap_block_index_each_pending(push_pending, NULL);
		follow_stack();
	}
}

/* Follows the pointers between the parts of BLOCK, if it is a parted block. */
static void follow_gaps(void *context, const struct leakwrap_indexed_block *block)
{
	struct leakwrap_gap gap = {.end = block->address};

	(void)context;
	while (block->is_parted && leakwrap_pool_next_gap(block, &gap))
		if (!gap.is_header)
			scan_words(gap.start,
			           (gap.is_tail ? leakwrap_pool_used_end(block, &gap) : gap.end) -
			                   gap.start);
	follow_all();
}

/* Follows the pointers of the blocks that were deferred.  All reachable blocks are known.  Those
 * among them that were deferred do no harm: what they lead to is known, too. */
static void follow_deferred(void)
{
	mark.take = take_from_possible;
	for (size_t i = 0; i < mark.deferred_count; i++)
		push_on_stack(mark.deferred[i].address, mark.deferred[i].size);
	mark.has_overflowed |= mark.has_more_deferred;
	follow_all();
	if (leakwrap_has_parted_blocks())
		leakwrap_block_index_each(follow_gaps, NULL);
}

/* -- lost blocks ------------------------------------------------------------------------------- */

/* Follows the pointers of BLOCK, to which nothing has led so far. */
static void follow_unreached(void *context, const struct leakwrap_indexed_block *block)
{
	(void)context;
	mark.leader = block->address;
	leakwrap_block_set_bits(block, LEAKWRAP_IS_LOST);
	scan_block(block->address, block->size);
	follow_all();
}

/* Adds BLOCK, which is definitely lost, to the sums, and the blocks that it leads to. */
static void give_lost_verdicts(void *context, const struct leakwrap_indexed_block *block)
{
	const struct leakwrap_sums *const sums = context;

	leakwrap_add_definite(sums, block->site, block->size);
	mark.leader = block->address;
	mark.leader_site = block->site;
	scan_block(block->address, block->size);
	follow_all();
}

/* -- the public functions ---------------------------------------------------------------------- */

bool leakwrap_mark_start(int original, uint64_t spare)
{
	if (!leakwrap_block_index_build())
		return false;
	mark.stack = leakwrap_scratch_map(STACK_SIZE);
	if (!mark.stack) {
		leakwrap_block_index_release();
		return false;
	}
	leakwrap_slabs_start(spare);
	mark.take = take_from_reachable;
	mark.reachable = LEAKWRAP_IS_REACHABLE;
	mark.original = original;
	mark.depth = mark.deferred_count = 0;
	mark.deferred = mark.stack + STACK_ROOM;
	mark.has_more_deferred = false;
	mark.has_overflowed = false;
	mark.words_in = mark.words_out = mark.slots_in = mark.slots_out = 0;
	mark.blocks_in = mark.blocks_out = 0;
	leakwrap_word_scan_start(&mark.scan, add_word);
	return true;
}

void leakwrap_mark_end(void)
{
	leakwrap_word_scan_end(&mark.scan);
	leakwrap_slabs_end();
	leakwrap_scratch_unmap(mark.stack, STACK_SIZE);
	leakwrap_block_index_release();
}

void leakwrap_mark_get_bounds(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)&mark;
	*end = (uintptr_t)(&mark + 1);
}

void leakwrap_mark_word(uintptr_t word)
{
	const uintptr_t address = leakwrap_lower_address(word);

	if (!leakwrap_is_outside_of_blocks(address, address + 1) && leakwrap_may_be_pointer(word))
		take_from_reachable(leakwrap_indexed_region_at(address), address, 0);
}

void leakwrap_mark_range(uintptr_t start, uintptr_t end)
{
	leakwrap_word_scan_range(&mark.scan, start, end);
}

void leakwrap_mark_block(uintptr_t address)
{
	struct leakwrap_indexed_block block;

	if (!leakwrap_is_outside_of_blocks(address, address + 1) &&
	    leakwrap_block_index_find(address, &block))
		take_from_reachable(leakwrap_indexed_region_at(block.address), block.address, 0);
}

/* Marks BLOCK, which is parted, reachable: an allocator hands out its parts.  Marks from the header
 * of the pool, too. */
static void mark_parted(const struct leakwrap_indexed_block *block)
{
	struct leakwrap_gap gap = {.end = block->address};

	leakwrap_block_set_bits(block, LEAKWRAP_IS_REACHABLE);
	if (leakwrap_pool_next_gap(block, &gap) && gap.is_header)
		scan_words(gap.start, gap.end - gap.start);
}

/* Blocks that the program ignores are roots.  So are parted blocks. */
static void mark_known(void *context, const struct leakwrap_indexed_block *block)
{
	(void)context;
	if (block->is_parted)
		mark_parted(block);
	else if (block->site == LEAKWRAP_SITE_IGNORED &&
	         (leakwrap_block_bits(block) & LEAKWRAP_IS_REACHABLE) == 0)
		push(block, leakwrap_reachable_bits(block->is_halfway));
}

void leakwrap_mark_finish(const struct leakwrap_sums *sums)
{
	mark.sums = sums;
	if (leakwrap_block_index.ignored_count > 0 || leakwrap_has_parted_blocks())
		leakwrap_block_index_each(mark_known, NULL);
	follow_all();
	follow_deferred();
	if (!leakwrap_add_reached(sums))
		return;
	leakwrap_block_index_fold_bits();
	mark.reachable = 0;
	mark.take = take_from_lost;
	leakwrap_block_index_each_with(LEAKWRAP_IS_UNREACHED, follow_unreached, NULL);
	mark.take = take_to_count;
	leakwrap_block_index_each_with(LEAKWRAP_IS_LOST, give_lost_verdicts, (void *)sums);
}
