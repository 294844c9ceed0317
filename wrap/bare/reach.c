/* reach.c - see reach.h.  Without an operating system the program says which memory may hold
 * pointers (leakwrap_bare.h).
 *
 * The live blocks are numbered in the order of their addresses.  Each has a number of two bytes for
 * the order, two for a list of blocks whose pointers must be followed, and bits.  Reachable blocks
 * are followed first, then possibly lost blocks, then the others.  So no block is in the list
 * twice.
 */
#include "wrap/reach/reach.h"

#include "wrap/bare/bare_arena.h"
#include "wrap/bare/bare_tables.h"
#include "wrap/bare/tasks.h"
#include "wrap/leakwrap_bare.h"
#include "wrap/live/slot.h"
#include "wrap/port/port.h"
#include "wrap/reach/interior.h"
#include "wrap/unwind/stack_bounds.h"

/* The bits of a block.  The two lower are its kind so far. */
enum {
	UNREACHED,
	POSSIBLE,
	REACHABLE,
	LOST, /* unreached, and its pointers were followed */
	KIND = 3,
	INDIRECT = 4, /* another lost block leads to it */
	PARTED = 8,   /* other blocks lie in it: an allocator hands out its parts */
};

/* Whose words are read. */
enum source { OF_REACHABLE, OF_POSSIBLE, OF_LOST, TO_COUNT };

/* A number that no block has. */
#define NONE UINT16_MAX

/* A scan.  It lies on the stack below all that is scanned, and its arrays in the tracer's memory:
 * none is a root. */
struct scan {
	struct leakwrap_kinds *by_site;
	uint32_t sites;
	uintptr_t sp; /* of the task that scans */
	uint32_t count;
	uint16_t *order; /* the slot of each block (bare_tables.h) */
	uint16_t *next;  /* the next block of the list, or NONE */
	uint8_t *bits;
	uint16_t first; /* of the list, or NONE */
	enum source source;
	struct leakwrap_bare_stack *stacks;
	unsigned stack_count;
	uintptr_t leader; /* the lost block whose pointers are followed, and its call site */
	uint32_t leader_site;
};

/* -- blocks ------------------------------------------------------------------------------------ */

static struct leakwrap_live_block block_of(const struct scan *scan, uint32_t number)
{
	return leakwrap_live_at(scan->order[number]);
}

static uintptr_t end_of(const struct leakwrap_live_block *block)
{
	return block->address + (block->size > 0 ? block->size : 1);
}

/* Returns the number of the first block that begins above ADDRESS; the number of blocks if there is
 * none. */
static uint32_t first_above(const struct scan *scan, uintptr_t address)
{
	uint32_t low = 0, high = scan->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (block_of(scan, middle).address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the number of the innermost block that holds ADDRESS, or of the empty array that ends
 * there, or NONE.  Parted blocks may not be found: all of them are reachable. */
static uint32_t find(const struct scan *scan, uintptr_t address)
{
	const uint32_t above = first_above(scan, address);
	struct leakwrap_live_block block;

	if (above == 0)
		return NONE;
	block = block_of(scan, above - 1);
	if (address < end_of(&block) || (address == block.address + LEAKWRAP_COOKIE &&
	                                 leakwrap_is_empty_array(block.address, block.size)))
		return above - 1;
	return NONE;
}

/* Sorts the blocks by address with Shell's method. */
static void sort(struct scan *scan)
{
	for (uint32_t gap = scan->count / 2; gap > 0; gap /= 2)
		for (uint32_t i = gap; i < scan->count; i++) {
			const uint16_t moving = scan->order[i];
			const uintptr_t address = leakwrap_live_at(moving).address;
			uint32_t at = i;

			for (; at >= gap && block_of(scan, at - gap).address > address; at -= gap)
				scan->order[at] = scan->order[at - gap];
			scan->order[at] = moving;
		}
}

/* -- words ------------------------------------------------------------------------------------- */

static void push(struct scan *scan, uint32_t number, unsigned bits)
{
	scan->bits[number] = (uint8_t)bits;
	scan->next[number] = scan->first;
	scan->first = (uint16_t)number;
}

/* The scan that runs, for what asks without it, or NULL. */
static const struct scan *running;

static bool is_within(uintptr_t address, size_t size, uintptr_t start, uintptr_t end)
{
	return address >= start && address <= end && size <= end - address;
}

/* Returns whether SIZE bytes at ADDRESS are known to be memory: of a block, a stack, a root, the
 * allocator or the code.  Elsewhere may be nothing, or registers of a device, which a read may
 * change. */
static bool is_readable(uintptr_t address, size_t size)
{
	const uint32_t above = first_above(running, address);

	if (above > 0) {
		const struct leakwrap_live_block block = block_of(running, above - 1);

		if (is_within(address, size, block.address, end_of(&block)))
			return true;
	}
	for (unsigned i = 0; i < running->stack_count; i++)
		if (is_within(address, size, running->stacks[i].low, running->stacks[i].high))
			return true;
	for (size_t i = 0; i < leakwrap_bare.root_count; i++)
		if (is_within(address, size, (uintptr_t)leakwrap_bare.roots[i].start,
		              (uintptr_t)leakwrap_bare.roots[i].end))
			return true;
	return is_within(address, size, (uintptr_t)leakwrap_bare.heap_low,
	                 (uintptr_t)leakwrap_bare.heap_high) ||
	       is_within(address, size, (uintptr_t)leakwrap_bare.text_start,
	                 (uintptr_t)leakwrap_bare.text_end);
}

/* Takes WORD, which stands at PLACE and leads to the block NUMBER, from a block that is not
 * lost. */
static void take_pointer(struct scan *scan, uintptr_t word, uintptr_t place, uint32_t number)
{
	const struct leakwrap_live_block block = block_of(scan, number);
	const unsigned kind = scan->bits[number] & KIND;

	if (kind == REACHABLE)
		return;
	if (scan->source == OF_POSSIBLE) {
		if (kind != POSSIBLE)
			push(scan, number, POSSIBLE);
	} else if (word == block.address || leakwrap_is_usual_interior(block.address, block.size,
	                                                               word, place, is_readable)) {
		push(scan, number, REACHABLE);
	} else {
		scan->bits[number] = POSSIBLE;
	}
}

static void add(struct scan *scan, uint32_t site, enum leakwrap_reach_kind kind, size_t size)
{
	if (site >= scan->sites)
		return;
	scan->by_site[site].bytes[kind] += (leakwrap_kind_sum)size;
	scan->by_site[site].blocks[kind]++;
}

/* Takes a word, which leads to the block NUMBER, from a lost block. */
static void take_lost(struct scan *scan, uint32_t number)
{
	const struct leakwrap_live_block block = block_of(scan, number);
	const unsigned bits = scan->bits[number];

	if (scan->source == OF_LOST) {
		if (block.address == scan->leader || (bits & KIND) == POSSIBLE ||
		    (bits & KIND) == REACHABLE || (bits & INDIRECT) != 0)
			return;
		/* An earlier leader: its pointers have been followed. */
		if (bits == LOST)
			scan->bits[number] = LOST | INDIRECT;
		else
			push(scan, number, LOST | INDIRECT);
	} else if (bits == (LOST | INDIRECT)) {
		add(scan, scan->leader_site, LEAKWRAP_INDIRECT, block.size);
		add(scan, block.site, LEAKWRAP_OWN_INDIRECT, block.size);
		push(scan, number, INDIRECT);
	}
}

/* Takes the words from START to END. */
static void take_words(struct scan *scan, uintptr_t start, uintptr_t end)
{
	if (start == 0) /* where processors have their vectors */
		start = sizeof(start);
	start = (start + sizeof(start) - 1) & ~(sizeof(start) - 1);
	for (; start < end && end - start >= sizeof(start); start += sizeof(start)) {
		const uintptr_t word = leakwrap_stack_word(start);
		const uint32_t number = find(scan, word);

		if (number == NONE || (scan->bits[number] & PARTED) != 0)
			continue;
		if (scan->source == OF_REACHABLE || scan->source == OF_POSSIBLE)
			take_pointer(scan, word, start, number);
		else
			take_lost(scan, number);
	}
}

/* Takes the words from START to END, but for the unused parts of stacks. */
static void take_used_words(struct scan *scan, uintptr_t start, uintptr_t end)
{
	while (start < end) {
		uintptr_t stop = end, behind = end;

		for (unsigned i = 0; i < scan->stack_count; i++) {
			const struct leakwrap_bare_stack *const stack = &scan->stacks[i];

			if (stack->sp > start && stack->low < stop) {
				stop = stack->low > start ? stack->low : start;
				behind = stack->sp;
			}
		}
		take_words(scan, start, stop);
		start = behind;
	}
}

/* Follows the pointers of the block NUMBER. */
static void scan_block(struct scan *scan, uint32_t number)
{
	const struct leakwrap_live_block block = block_of(scan, number);

	take_used_words(scan, block.address, block.address + block.size);
}

/* Follows the pointers of all blocks in the list. */
static void follow(struct scan *scan)
{
	while (scan->first != NONE) {
		const uint32_t number = scan->first;

		scan->first = scan->next[number];
		scan_block(scan, number);
	}
}

/* -- roots ------------------------------------------------------------------------------------- */

/* newlib's malloc keeps the addresses of free chunks there, and a chunk begins with the last word
 * of the block before it (newlib/libc/stdlib/_mallocr.c, av_).  newlib-nano has none. */
extern uintptr_t newlib_bins[258] __asm__("__malloc_av_") __attribute__((weak));

/* Moves *START behind the range from LOW to HIGH if it lies in it.  Else cuts *END to LOW. */
static void leave_out(uintptr_t *start, uintptr_t *end, uintptr_t low, uintptr_t high)
{
	if (*start >= low && *start < high)
		*start = high;
	else if (low > *start && low < *end)
		*end = low;
}

/* Takes the words of a root, but for blocks and what is no root. */
static void mark_range(struct scan *scan, uintptr_t start, uintptr_t end)
{
	const uintptr_t memory = (uintptr_t)leakwrap_bare.memory;
	uintptr_t own, own_end;

	leakwrap_tasks_get_bounds(&own, &own_end);
	while (start < end) {
		const uint32_t above = first_above(scan, start);
		const uintptr_t from = start;
		uintptr_t stop = end;

		leave_out(&start, &stop, memory, memory + leakwrap_bare.memory_size);
		leave_out(&start, &stop, own, own_end);
		if (newlib_bins)
			leave_out(&start, &stop, (uintptr_t)newlib_bins,
			          (uintptr_t)newlib_bins + sizeof(newlib_bins));
		leave_out(&start, &stop, (uintptr_t)leakwrap_bare.heap_low,
		          (uintptr_t)leakwrap_bare.heap_high);
		for (uint32_t i = above > 0 ? above - 1 : 0; i <= above && i < scan->count; i++) {
			const struct leakwrap_live_block block = block_of(scan, i);

			leave_out(&start, &stop, block.address, end_of(&block));
		}
		if (start != from)
			continue;
		take_used_words(scan, start, stop);
		start = stop;
	}
}

/* Takes the used part of each stack.  A stack may be a block, or a part of one. */
static void mark_stacks(struct scan *scan)
{
	for (unsigned i = 0; i < scan->stack_count; i++) {
		const struct leakwrap_bare_stack *const stack = &scan->stacks[i];
		const uint32_t number = find(scan, stack->sp);

		take_words(scan, stack->sp, stack->high);
		if (number != NONE && (scan->bits[number] & KIND) != REACHABLE)
			push(scan, number, REACHABLE);
	}
}

static void count_stack(void *context, const struct leakwrap_bare_stack *stack)
{
	(void)stack;
	++*(unsigned *)context;
}

/* Adds STACK, unless there are more stacks than were counted. */
static void add_stack(void *context, const struct leakwrap_bare_stack *stack)
{
	struct scan *const scan = context;
	struct leakwrap_bare_stack *const added = &scan->stacks[scan->stack_count];

	if (scan->stack_count == scan->count)
		return;
	scan->stack_count++;
	*added = *stack;
	if (scan->sp >= stack->low && scan->sp < stack->high)
		added->sp = scan->sp;
	else if (stack->sp < stack->low || stack->sp > stack->high)
		added->sp = stack->low;
}

/* -- the scan ---------------------------------------------------------------------------------- */

static void mark_roots(struct scan *scan)
{
	scan->source = OF_REACHABLE;
	mark_stacks(scan);
	for (size_t i = 0; i < leakwrap_bare.root_count; i++)
		mark_range(scan, (uintptr_t)leakwrap_bare.roots[i].start,
		           (uintptr_t)leakwrap_bare.roots[i].end);
	for (uint32_t i = 0; i < scan->count; i++) {
		const struct leakwrap_live_block block = block_of(scan, i);

		/* What lies before the first part is the header of a pool. */
		if ((scan->bits[i] & PARTED) != 0)
			take_used_words(scan, block.address, block_of(scan, i + 1).address);
		else if (block.site == LEAKWRAP_SITE_IGNORED && scan->bits[i] != REACHABLE)
			push(scan, i, REACHABLE);
	}
	follow(scan);
	scan->source = OF_POSSIBLE;
	for (uint32_t i = 0; i < scan->count; i++)
		if ((scan->bits[i] & KIND) == POSSIBLE)
			scan_block(scan, i);
	follow(scan);
}

/* Follows the pointers of lost blocks: what they lead to is lost indirectly. */
static void follow_lost(struct scan *scan)
{
	scan->source = OF_LOST;
	for (uint32_t i = 0; i < scan->count; i++) {
		if (scan->bits[i] != UNREACHED)
			continue;
		scan->leader = block_of(scan, i).address;
		scan->bits[i] = LOST;
		scan_block(scan, i);
		follow(scan);
	}
}

static void add_up(struct scan *scan)
{
	static const enum leakwrap_reach_kind kinds[] = {
	        [LOST] = LEAKWRAP_DEFINITE,
	        [POSSIBLE] = LEAKWRAP_POSSIBLE,
	        [REACHABLE] = LEAKWRAP_REACHABLE,
	};

	scan->source = TO_COUNT;
	for (uint32_t i = 0; i < scan->count; i++) {
		const struct leakwrap_live_block block = block_of(scan, i);

		if ((scan->bits[i] & INDIRECT) != 0)
			continue;
		add(scan, block.site, kinds[scan->bits[i] & KIND], block.size);
		if (scan->bits[i] != LOST)
			continue;
		scan->leader_site = block.site;
		scan_block(scan, i);
		follow(scan);
	}
}

/* Numbers the live blocks.  Blocks in which others lie are reachable: their parts are judged. */
static void number_blocks(struct scan *scan)
{
	const uint32_t slots = leakwrap_live_slots();

	scan->count = 0;
	for (uint32_t slot = 0; slot < slots; slot++)
		if (leakwrap_live_at(slot).site != 0)
			scan->order[scan->count++] = (uint16_t)slot;
	sort(scan);
	for (uint32_t i = 0; i + 1 < scan->count; i++) {
		const struct leakwrap_live_block block = block_of(scan, i);

		if (block_of(scan, i + 1).address < end_of(&block))
			scan->bits[i] = REACHABLE | PARTED;
	}
}

/* Returns the bytes of the arrays for the live blocks. */
static size_t arrays_size(void)
{
	return leakwrap_live_slots() * (2 * sizeof(uint16_t) + 1);
}

static void find_kinds(struct scan *scan, char *arrays)
{
	const uint32_t slots = leakwrap_live_slots();

	running = scan;
	scan->order = (uint16_t *)(void *)arrays;
	scan->next = scan->order + slots;
	scan->bits = (uint8_t *)(scan->next + slots);
	number_blocks(scan);
	mark_roots(scan);
	follow_lost(scan);
	add_up(scan);
	running = NULL;
}

void leakwrap_reach_release(struct leakwrap_kinds *kinds, uint32_t sites)
{
	if (kinds)
		leakwrap_scratch_unmap(kinds, sites * sizeof(*kinds));
}

/* Returns the sums of SITES call sites, or NULL if the rows of the dump would have no memory then.
 */
static struct leakwrap_kinds *take_sums(uint32_t sites)
{
	const size_t rows = (sites + 1) * (size_t)LEAKWRAP_SCRATCH_PER_SITE;
	struct leakwrap_kinds *const sums = leakwrap_scratch_map(sites * sizeof(*sums));
	void *const room = sums ? leakwrap_scratch_map(rows) : NULL;

	if (room) {
		leakwrap_scratch_unmap(room, rows);
		return sums;
	}
	leakwrap_reach_release(sums, sites);
	return NULL;
}

/* Returns what the program must change in leakwrap_bare before a scan, or NULL.  57,342 live blocks
 * have the most slots that a scan can number (live.c). */
static const char *find_obstacle(void)
{
	if (leakwrap_bare.root_count == 0)
		return "leakwrap_bare.roots and root_count are not set";
	if (leakwrap_live_slots() >= NONE)
		return "too many blocks: leakwrap_bare.live_blocks may be at most 57342";
	return NULL;
}

/* Scratch memory is a stack: what was taken last goes back first. */
struct leakwrap_kinds *leakwrap_reach_scan(const struct leakwrap_scan *scan, uint32_t sites,
                                           const char **error)
{
	struct scan state = {.sp = scan->own.sp, .sites = sites, .first = NONE};
	unsigned stacks = 1;
	char *arrays = NULL;
	size_t stacks_size;

	leakwrap_park();
	*error = find_obstacle();
	if (*error)
		return NULL;
	*error = "leakwrap_bare.memory has not 5 bytes a block and 40 a call site left";
	state.by_site = take_sums(sites);
	if (!state.by_site)
		return NULL;
	if (leakwrap_bare.each_stack)
		leakwrap_bare.each_stack(count_stack, &stacks);
	stacks_size = stacks * sizeof(*state.stacks);
	state.stacks = leakwrap_scratch_map(stacks_size);
	if (state.stacks) {
		const struct leakwrap_bare_stack of_main = {(uintptr_t)leakwrap_bare.stack_low,
		                                            (uintptr_t)leakwrap_bare.stack_high, 0};

		state.count = stacks;
		add_stack(&state, &of_main);
		if (leakwrap_bare.each_stack)
			leakwrap_bare.each_stack(add_stack, &state);
		arrays = leakwrap_scratch_map(arrays_size());
		if (arrays)
			find_kinds(&state, arrays);
		if (arrays)
			leakwrap_scratch_unmap(arrays, arrays_size());
		leakwrap_scratch_unmap(state.stacks, stacks_size);
	}
	if (!arrays) {
		leakwrap_reach_release(state.by_site, sites);
		return NULL;
	}
	return state.by_site;
}
