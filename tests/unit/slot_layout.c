/* slot_layout.c - each address has the slot that its region's layout says (wrap/live/live.c), and a
 * walk gives this address again. It runs for an allocator like glibc's, and for others, also with
 * smaller words.
 * sources: @live */
#include "wrap/live/fast.h"
#include "wrap/live/live.h"
#include "wrap/port/port.h"
#include "wrap/live/heap_allocator.h"
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

/* For the inline paths: no condition of the caller's. */
static void *const no_pointer = NULL;

/* Removes the record of BLOCK by the fast path.  Returns false and changes nothing if it cannot. */
static bool remove_fast(const void *block)
{
	const struct leakwrap_region_entry *missed;

	return leakwrap_live_fast_remove(&leakwrap_address_tables, block, &no_pointer, &missed) ==
	       LEAKWRAP_REMOVED;
}

static bool blocks_lie_apart;

bool leakwrap_heap_min_block_is_4_words(void)
{
	return blocks_lie_apart;
}

#define WINDOW (4 * sizeof(void *))

/* There is no block at this address. */
#define BASE ((uintptr_t)0x40000000)

static void *at(uintptr_t offset)
{
	return (void *)(BASE + offset);
}

/* The addresses that a walk gives, in this order, at most one for every 8 bytes. */
static uintptr_t seen[LEAKWRAP_REGION_SIZE / 8];

static void see(void *context, const struct leakwrap_live_block *block)
{
	unsigned *count = context;

	CHECK(block->address - BASE < LEAKWRAP_REGION_SIZE && block->size == 5 && block->site == 7);
	seen[(*count)++] = block->address - BASE;
}

static unsigned see_all(void)
{
	unsigned count = 0;

	leakwrap_live_each(see, &count);
	return count;
}

/* Adds blocks at FIRST and each STEP bytes on. All fit slots, and a walk tells them apart. */
static void stand(uintptr_t first, uintptr_t step)
{
	static bool is_seen[LEAKWRAP_REGION_SIZE];
	unsigned count = 0;
	leakwrap_live_slot *slot;
	uint32_t within;

	for (uintptr_t offset = first; offset < LEAKWRAP_REGION_SIZE; offset += step, count++) {
		CHECK(leakwrap_live_is_slot_empty(at(offset)));
		CHECK(leakwrap_live_fast_add(at(offset), leakwrap_slot_value(5, 7, 0),
		                             &no_pointer));
	}
	CHECK(see_all() == count);
	for (unsigned i = 0; i < count; i++) {
		CHECK(seen[i] % step == first && !is_seen[seen[i]]);
		is_seen[seen[i]] = true;
	}
	for (uintptr_t offset = first; offset < LEAKWRAP_REGION_SIZE; offset += step) {
		CHECK(leakwrap_live_find(at(offset)).size == 5);
		CHECK(leakwrap_slot_size(leakwrap_slot_fast_read(at(offset), &slot, &within)) == 5);
		CHECK(remove_fast(at(offset)));
		is_seen[offset] = false;
	}
	CHECK(see_all() == 0);
}

static void check_layout(void)
{
	const uintptr_t apart = blocks_lie_apart ? WINDOW / 2 : 8;
	size_t size;

	CHECK(leakwrap_live_add(at(0), 1, 1) == LEAKWRAP_LIVE_NEW);
	CHECK(leakwrap_live_remove(at(0), &size) == 1);
	for (uintptr_t offset = 0; offset < LEAKWRAP_REGION_SIZE; offset++)
		CHECK(leakwrap_live_fast_add(at(offset), leakwrap_slot_value(5, 7, 0),
		                             &no_pointer) == (offset % apart == 0) &&
		      (offset % apart != 0 || remove_fast(at(offset))));
	if (!blocks_lie_apart)
		stand(0, 8);
	for (uintptr_t first = 0; first < WINDOW; first += apart)
		stand(first, WINDOW);
}

/* Runs in children, because the table learns only once which allocator there is. */
int main(void)
{
	for (int apart = 0; apart <= 1; apart++) {
		const pid_t child = fork();
		int status;

		if (child == 0) {
			blocks_lie_apart = apart;
			check_layout();
			_exit(0);
		}
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		CHECK(status == 0);
	}
	return 0;
}
