/* halves.c - see halves.h. */
#include "wrap/reach/halves.h"

#if UINTPTR_MAX > UINT32_MAX

#include "wrap/live/block_index.h"
#include "wrap/unwind/stack_bounds.h"

#define WORD  sizeof(uintptr_t)
#define LIMIT ((uintptr_t)1 << 32)

uintptr_t leakwrap_halves_size;

void leakwrap_halves_start(void)
{
	const struct leakwrap_block_index *const index = &leakwrap_block_index;
	uintptr_t end = index->low;

	for (size_t i = index->region_count; i-- > 0 && end == index->low;)
		if (index->regions[i].key < LIMIT >> LEAKWRAP_REGION_BITS)
			end = (index->regions[i].key + 1) << LEAKWRAP_REGION_BITS;
	for (size_t i = 0; i < index->listed_count; i++)
		if (index->listed[i].address >= end && index->listed[i].address < LIMIT)
			end = index->listed[i].address + 1;
	leakwrap_halves_size = end - index->low;
}

/* Returns whether OFFSET is a multiple of 8 below 8 * COUNT.  Takes one comparison. */
LEAKWRAP_INLINE bool is_multiple_below(uint32_t offset, uint32_t count)
{
	return (offset >> 3 | offset << 29) < count;
}

/* The bits of the address alone show that most are not. */
bool leakwrap_is_first_byte(uintptr_t address)
{
	const struct leakwrap_indexed_region *const in = leakwrap_indexed_region_at(address);
	struct leakwrap_indexed_block block;
	struct leakwrap_window at;

	if (leakwrap_unlikely(!in || in->has_overlap || in->has_exact))
		return leakwrap_block_index_find(address, &block) && block.address == address;
	at = leakwrap_window_of(in, address);
	return (at.within & ~LEAKWRAP_HALFWAY) == 0 && leakwrap_block_read(in, at.number, &block) &&
	       block.address == address;
}

/* Calls TAKE for the halves of WORD, which stands at PLACE, that are addresses of first bytes,
 * unless WORD itself leads to a block. */
static __attribute__((noinline)) void take_halves(uintptr_t word, uintptr_t place,
                                                  void (*take)(uintptr_t half, uintptr_t place))
{
	const uintptr_t halves[] = {word & (LIMIT - 1), word >> 32};
	struct leakwrap_indexed_block block;

	if (word - leakwrap_block_index.low <
	            leakwrap_block_index.high - leakwrap_block_index.low &&
	    leakwrap_block_index_find(word, &block))
		return;
	for (unsigned i = 0; i < 2; i++)
		if (halves[i] % 8 == 0 &&
		    halves[i] - leakwrap_block_index.low < leakwrap_halves_size &&
		    leakwrap_is_first_byte(halves[i]))
			take(halves[i], place);
}

void leakwrap_halves_scan(uintptr_t start, uintptr_t end,
                          void (*take)(uintptr_t half, uintptr_t place))
{
	const uint32_t low = (uint32_t)leakwrap_block_index.low & ~(uint32_t)7;
	const uint32_t count = (uint32_t)(leakwrap_halves_size / 8 + 1);

	for (start = (start + WORD - 1) & ~(WORD - 1); start < end && end - start >= WORD;
	     start += WORD) {
		const uintptr_t word = leakwrap_stack_word(start);
		const uint32_t lower = (uint32_t)word, upper = (uint32_t)(word >> 32);

		if (upper != 0 && leakwrap_unlikely(is_multiple_below(lower - low, count) ||
		                                    is_multiple_below(upper - low, count)))
			take_halves(word, start, take);
	}
}

#endif
