/* fuzz_image.c - feeds any bytes to the reader of core files, as libFuzzer asks for.
 *
 * The first bytes of the input are live blocks: their number, and for each its address, its size
 * and the rank of its call site.  The rest is the core file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/image/ways.h"

enum { BLOCKS_MAX = 8, BYTES_PER_BLOCK = 10, RANKS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t read_blocks(struct block_list *list, struct listed_block *blocks,
                          const uint8_t *bytes, size_t size)
{
	const size_t count = size > 0 ? bytes[0] % BLOCKS_MAX : 0;
	size_t used = 1;

	for (; list->count < count && size - used >= BYTES_PER_BLOCK; used += BYTES_PER_BLOCK) {
		struct listed_block *block = &blocks[list->count++];
		block->address = image_load(bytes + used, 8);
		block->size = bytes[used + 8];
		if (block->size > UINT64_MAX - block->address)
			block->size = 0;
		block->rank = bytes[used + 9] % RANKS;
		block->is_ignored = bytes[used + 9] > 200;
	}
	list->blocks = blocks;
	const unsigned flags = size > used ? bytes[used] : 0;
	list->is_heap_known = (flags & 1) == 0;
	list->has_jemalloc = (flags & 2) != 0;
	list->is_glibc = true;
	if ((flags & 4) != 0) {
		list->stack_layout.thread_pointer = 0x100;
		list->stack_layout.bounds = 0x40;
		list->stack_layout.size = 0x200;
	}
	return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct listed_block blocks[BLOCKS_MAX];
	struct block_list list = {.is_listed = true};
	static FILE *null;

	if (!null)
		null = fopen("/dev/null", "we");
	send_complaints(null);
	memset(blocks, 0, sizeof blocks);
	size_t used = read_blocks(&list, blocks, bytes, size);
	if (used >= size)
		return 0;
	struct dump dump = {.blocks = &list};
	struct image_reach reach = {0};
	/* Its own allocation, so that the sanitizer sees reads behind it. */
	uint8_t *core = xmalloc(size - used);
	memcpy(core, bytes + used, size - used);
	if (image_parse_core(&reach.image, "core", core, size - used)) {
		reach_start(&reach, &dump, &(const struct search){0});
		reach_judge(&reach);
		struct way_finder finder = ways_start(&reach);
		for (uint64_t rank = 1; rank < RANKS; rank++) {
			struct ways ways = ways_find(&finder, rank);
			ways_free(&ways);
		}
		ways_end(&finder);
		reach_free(&reach);
	}
	free(core);
	return 0;
}
