/* mark.c - see mark.h. */
#include "tools/image/mark.h"

#include "tools/base/memory.h"
#include "tools/image/array.h"

#include <stdlib.h>

#include "tools/image/memory.h"
#include "tools/image/offsets.h"
#include "tools/image/pools.h"
#include "wrap/rules/based_rules.h"
#include "wrap/rules/end_rules.h"

/* What a word means depends on where it was read: at the address AT, in the block FROM. */
typedef void take_word(struct marking *marking, uint64_t word, uint64_t at, size_t from);

static void push(struct marking *marking, size_t block)
{
	struct mark_queue *queue = &marking->queue;

	GROW(queue->blocks, queue->room, queue->behind + 1);
	queue->blocks[queue->behind++] = block;
}

/* Marks the block NUMBER, whose pointers will be followed. */
static void set(struct marking *marking, size_t number, enum mark_kind kind, uint64_t at,
                size_t from)
{
	struct mark *mark = &marking->marks[number];

	mark->kind = kind;
	mark->at = at;
	mark->from = from;
	mark->thread = -1;
	push(marking, number);
}

/* A block of at least SLAB_WORDS words is reachable if pointers in reachable memory lead to
 * SLAB_PLACES places in it (wrap/reach/slabs.h).  Without an operating system the runtime does not
 * count them. */
enum { SLAB_PLACES = 4, SLAB_WORDS = 24 };

/* Notes that WORD, found at AT, leads into the block with NUMBER.  Returns whether that makes the
 * block a slab, or leads back to its start. */
static bool add_place(struct marking *marking, size_t number, uint64_t word, uint64_t at)
{
	const uint64_t size = marking->image->word;
	const struct listed_block *block = &marking->index->blocks[number];
	uint16_t **places = &marking->marks[number].places;

	if (!marking->image->is_core || word % size != 0 || block->size < SLAB_WORDS * size)
		return false;
	/* Words of a large block may have the same number. */
	const uint16_t place = (uint16_t)((word - block->address) / size % UINT16_MAX + 1);
	if (!*places)
		*places = xzalloc((SLAB_PLACES - 1) * sizeof **places);
	for (unsigned i = 0; i < SLAB_PLACES - 1; i++) {
		if ((*places)[i] == place)
			return false;
		if ((*places)[i] == 0) {
			(*places)[i] = place;
			return marking->leads_back(marking->context, block, word, at);
		}
	}
	return true;
}

/* Returns the block of INDEX that has SIZE bytes and ends at WORD, or NO_BLOCK. */
static size_t find_before(const struct block_index *index, uint64_t word, uint64_t size)
{
	const size_t before = word < size ? NO_BLOCK : block_index_find(index, word - size);

	return before != NO_BLOCK && index->blocks[before].address == word - size &&
	                       index->blocks[before].size == size
	               ? before
	               : NO_BLOCK;
}

/* Returns the block to which WORD leads, which stands at AT, or NO_BLOCK: the one that holds the
 * address, or one that is held by this address, its end (wrap/reach/pointee.h). */
static size_t find_pointee(const struct marking *marking, uint64_t word, uint64_t at)
{
	static const uint8_t words[] = LEAKWRAP_END_WORDS;
	const struct block_index *index = marking->index;
	const size_t number = block_index_find(index, word);

	if (number != NO_BLOCK)
		return number;
	const size_t array = find_before(index, word, array_cookie(marking->image));
	if (array != NO_BLOCK &&
	    (is_empty_array(marking->image, &index->blocks[array]) ||
	     marking->is_held_by_end(marking->context, &index->blocks[array], word, at)))
		return array;
	for (unsigned i = 0; i < sizeof words; i++) {
		const size_t held = find_before(index, word, words[i] * marking->image->word);

		if (held != NO_BLOCK &&
		    marking->is_held_by_end(marking->context, &index->blocks[held], word, at))
			return held;
	}
	return NO_BLOCK;
}

/* Takes WORD of a root, or of a reachable or possibly lost block FROM. */
static void take_pointer(struct marking *marking, uint64_t word, uint64_t at, size_t from)
{
	const size_t number = find_pointee(marking, word, at);
	const bool is_from_possible =
	        from != NO_BLOCK && marking->marks[from].kind == MARK_POSSIBLE;

	if (number == NO_BLOCK || marking->marks[number].kind == MARK_REACHABLE)
		return;
	const struct listed_block *block = &marking->index->blocks[number];
	if (marking->index->is_parted[number])
		marking->marks[number].kind = MARK_REACHABLE;
	else if (!is_from_possible &&
	         (word == block->address ||
	          marking->is_usual_interior(marking->context, block, word, at) ||
	          add_place(marking, number, word, at)))
		set(marking, number, MARK_REACHABLE, at, from);
	else if (marking->marks[number].kind != MARK_POSSIBLE)
		set(marking, number, MARK_POSSIBLE, at, from);
}

/* Takes WORD of a gap of the parted block FROM.  All reachable blocks are known. */
static void take_from_gap(struct marking *marking, uint64_t word, uint64_t at, size_t from)
{
	const size_t number = find_pointee(marking, word, at);

	if (number != NO_BLOCK && marking->marks[number].kind == MARK_UNREACHED)
		set(marking, number, MARK_POSSIBLE, at, from);
}

/* Takes WORD of a lost block: what it leads to is lost indirectly. */
static void take_from_lost(struct marking *marking, uint64_t word, uint64_t at, size_t from)
{
	const size_t number = find_pointee(marking, word, at);

	if (number == NO_BLOCK || number == marking->leader || marking->index->is_parted[number])
		return;
	struct mark *mark = &marking->marks[number];
	if (mark->kind == MARK_POSSIBLE || mark->kind == MARK_REACHABLE || mark->is_indirect)
		return;
	mark->is_indirect = true;
	/* The pointers of an earlier leader have been followed. */
	if (mark->kind == MARK_UNREACHED) {
		set(marking, number, MARK_LOST, at, from);
	} else {
		mark->at = at;
		mark->from = from;
	}
}

/* Takes WORD of a lost block: the block that it leads to counts at the leader, unless it has
 * counted. */
static void take_to_count(struct marking *marking, uint64_t word, uint64_t at, size_t from)
{
	const size_t number = find_pointee(marking, word, at);

	if (number == NO_BLOCK)
		return;
	struct mark *mark = &marking->marks[number];
	if (mark->kind != MARK_LOST || !mark->is_indirect || mark->is_counted)
		return;
	mark->is_counted = true;
	mark->leader = marking->leader;
	mark->at = at;
	mark->from = from;
	push(marking, number);
}

/* -- memory ------------------------------------------------------------------------------------ */

/* Passes ADDRESS, which stands in a part of the word at the address AT, to TAKE if it is that of a
 * block's first byte, and not behind LAST. */
static void take_part(struct marking *marking, uint64_t address, uint64_t last, uint64_t at,
                      take_word *take, size_t from)
{
	const struct block_index *index = marking->index;

	if (address < index->low || address > last)
		return;
	const size_t number = block_index_find(index, address);
	if (number != NO_BLOCK && index->blocks[number].address == address)
		take(marking, address, at, from);
}

/* Passes the array to TAKE whose element or row 0 would be at WORD, which stands at AT, if there is
 * one. */
static void take_array(struct marking *marking, uint64_t word, uint64_t at, bool has_rows,
                       take_word *take, size_t from)
{
	const uint64_t array = marking->find_array(marking->context, word, at, has_rows);

	if (array != 0)
		take(marking, array, at, from);
}

/* Passes the word STORED at the address AT to TAKE if it may lead to a block, or a part of it
 * (wrap/reach/halves.h). */
static void take_stored(struct marking *marking, uint64_t stored, uint64_t at, take_word *take,
                        size_t from)
{
	/* The end of the last block may lead to it. */
	const uint64_t first = marking->index->low, low = first - leakwrap_room_in_front(first);
	const uint64_t size = marking->index->high - low + 1;
	const uint64_t word = image_untagged(marking->image, stored);

	if (word - low < size) {
		take_array(marking, word, at, false, take, from);
		take_array(marking, word, at, true, take, from);
		take(marking, word, at, from);
		if (block_index_find(marking->index, word) != NO_BLOCK)
			return;
	}
	const uint64_t lower = image_lower_address(marking->image, stored);
	if (lower != word)
		take_part(marking, lower, marking->index->high, at, take, from);
	if (marking->image->word == 8 && at % 8 == 0 && stored >> 32 != 0) {
		const uint64_t last = marking->index->last_half;
		if (stored % 8 == 0)
			take_part(marking, stored & UINT32_MAX, last, at, take, from);
		if ((stored >> 32) % 8 == 0)
			take_part(marking, stored >> 32, last, at + 4, take, from);
	}
}

/* Reads the word at ADDRESS, which may lie in two parts of IMAGE.  Returns false if a byte of it
 * cannot be read. */
static bool read_across(const struct image *image, uint64_t address, uint64_t *word)
{
	unsigned char bytes[sizeof(*word)];

	for (uint64_t i = 0; i < image->word; i++) {
		const unsigned char *byte;
		if (image_bytes(image, address + i, &byte) == 0)
			return false;
		bytes[i] = *byte;
	}
	*word = image_load(bytes, image->word);
	return true;
}

/* Returns ADDRESS, rounded up to a multiple of STEP. */
static uint64_t align(uint64_t address, uint64_t step)
{
	return (address + step - 1) & ~(step - 1);
}

/* Passes the words from START to END to TAKE, as far as the image has them. */
static void scan(struct marking *marking, uint64_t start, uint64_t end, take_word *take,
                 size_t from)
{
	const uint64_t word = marking->image->word;
	const uint64_t step = marking->step ? marking->step : word;

	/* A word may begin in the memory that was scanned before. */
	if (start == marking->scanned_end && start >= word)
		start -= word - step;
	marking->scanned_end = end;
	start = align(start, step);
	while (start < end && end - start >= word) {
		const unsigned char *bytes;
		uint64_t there = image_bytes(marking->image, start, &bytes), at = 0, stored;

		if (there > end - start)
			there = end - start;
		for (; there - at >= word; at += step)
			take_stored(marking, image_load(bytes + at, word), start + at, take, from);
		if (at == 0 && read_across(marking->image, start, &stored)) {
			take_stored(marking, stored, start, take, from);
			at = step;
		}
		start = at > 0 ? start + at : image_next(marking->image, start + step);
		if (start > UINT64_MAX - word)
			return;
		start = align(start, step);
	}
}

/* A block whose pointers are followed, and who takes them. */
struct followed {
	struct marking *marking;
	take_word *take;
	size_t number;
};

/* Passes WORD, whose distance stands at AT in the block of struct followed, to who takes it. */
static void take_at_distance(void *context, uint64_t word, uint64_t at)
{
	const struct followed *followed = context;

	followed->take(followed->marking, word, at, followed->number);
}

/* Passes the words of BLOCK, which has NUMBER, to TAKE, but for the past of a stack in it.  Passes
 * what it holds by distances, too. */
static void scan_block(struct marking *marking, const struct listed_block *block, take_word *take,
                       size_t number)
{
	const uint64_t end = block->address + block->size;
	uint64_t at = block->address;

	while (at < end) {
		uint64_t stop = end, behind = end;

		for (size_t i = 0; i < marking->stack_count; i++) {
			const struct listed_stack *stack = &marking->stacks[i];
			if (stack->sp > at && stack->low < stop) {
				stop = stack->low > at ? stack->low : at;
				behind = stack->sp;
			}
		}
		scan(marking, at, stop, take, number);
		at = behind;
	}
	take_offsets(marking->image, marking->index, block, take_at_distance,
	             &(struct followed){marking, take, number});
}

/* Passes the words of the blocks in the queue, and of those that come, to TAKE. */
static void follow(struct marking *marking, take_word *take)
{
	struct mark_queue *queue = &marking->queue;

	while (queue->first < queue->behind) {
		const size_t number = queue->blocks[queue->first++];
		scan_block(marking, &marking->index->blocks[number], take, number);
	}
	queue->first = queue->behind = 0;
}

/* -- the public functions ---------------------------------------------------------------------- */

void mark_start(struct marking *marking)
{
	const size_t count = marking->index->count;

	marking->marks = xzalloc((count + 1) * sizeof *marking->marks);
	for (size_t i = 0; i < count; i++) {
		marking->marks[i].from = marking->marks[i].leader = NO_BLOCK;
		marking->marks[i].thread = -1;
	}
	marking->queue = (struct mark_queue){0};
}

void mark_free(struct marking *marking)
{
	for (size_t i = 0; marking->marks && i < marking->index->count; i++)
		free(marking->marks[i].places);
	free(marking->marks);
	free(marking->queue.blocks);
}

void mark_register(struct marking *marking, uint64_t word, int thread)
{
	const size_t before = marking->queue.behind;

	const uint64_t lower = image_lower_address(marking->image, word);
	word = image_untagged(marking->image, word);
	take_pointer(marking, word, 0, NO_BLOCK);
	if (lower != word)
		take_part(marking, lower, marking->index->high, 0, take_pointer, NO_BLOCK);
	if (marking->queue.behind > before)
		marking->marks[marking->queue.blocks[before]].thread = thread;
}

void mark_range(struct marking *marking, uint64_t start, uint64_t end)
{
	scan(marking, start, end, take_pointer, NO_BLOCK);
}

void mark_block(struct marking *marking, uint64_t address, uint64_t at)
{
	const size_t number =
	        block_index_find(marking->index, image_untagged(marking->image, address));

	if (number != NO_BLOCK && marking->marks[number].kind != MARK_REACHABLE)
		set(marking, number, MARK_REACHABLE, at, NO_BLOCK);
}

/* Marks the parted block NUMBER reachable: an allocator hands out its parts.  Takes the words of
 * its header, too. */
static void mark_parted(struct marking *marking, size_t number)
{
	struct gap gap = {.end = marking->index->blocks[number].address};

	marking->marks[number].kind = MARK_REACHABLE;
	if (pool_next_gap(marking->index, number, &gap) && gap.is_header)
		scan(marking, gap.start, gap.end, take_pointer, number);
}

/* Ignored blocks keep others reachable.  Parted blocks are reachable, too. */
static void mark_known(struct marking *marking)
{
	for (size_t i = 0; i < marking->index->count; i++)
		if (marking->index->is_parted[i])
			mark_parted(marking, i);
		else if (marking->index->blocks[i].is_ignored &&
		         marking->marks[i].kind != MARK_REACHABLE)
			set(marking, i, MARK_REACHABLE, 0, NO_BLOCK);
}

/* Follows the pointers between the parts of blocks.  Without an operating system the runtime does
 * not. */
static void follow_gaps(struct marking *marking)
{
	for (size_t i = 0; marking->image->is_core && i < marking->index->count; i++) {
		struct gap gap = {.end = marking->index->blocks[i].address};

		while (marking->index->is_parted[i] && pool_next_gap(marking->index, i, &gap))
			if (!gap.is_header)
				scan(marking, gap.start,
				     gap.is_tail ? pool_used_end(marking->image, marking->index, i,
				                                 &gap)
				                 : gap.end,
				     take_from_gap, i);
		follow(marking, take_pointer);
	}
}

static void find_lost(struct marking *marking)
{
	for (size_t i = 0; i < marking->index->count; i++) {
		if (marking->marks[i].kind != MARK_UNREACHED)
			continue;
		marking->leader = i;
		set(marking, i, MARK_LOST, 0, NO_BLOCK);
		follow(marking, take_from_lost);
	}
}

static void count_lost(struct marking *marking)
{
	for (size_t i = 0; i < marking->index->count; i++) {
		const struct mark *mark = &marking->marks[i];
		if (mark->kind != MARK_LOST || mark->is_indirect)
			continue;
		marking->leader = i;
		push(marking, i);
		follow(marking, take_to_count);
	}
}

void mark_finish(struct marking *marking)
{
	follow(marking, take_pointer);
	mark_known(marking);
	follow(marking, take_pointer);
	follow_gaps(marking);
	find_lost(marking);
	count_lost(marking);
}
