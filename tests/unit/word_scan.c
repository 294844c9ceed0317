/* word_scan.c - word_scan.c in wrap/reach takes all words that can be read, and no others.
 * sources: wrap/reach/word_scan.c wrap/base/options.c wrap/base/loss.c wrap/base/thread.c
 * sources: wrap/port/linux*.c */
#include "wrap/reach/word_scan.h"

#include "wrap/base/options.h"
#include "wrap/live/indexed_block.h"
#include "wrap/port/port.h"
#include "wrap/reach/halves.h"
#include "wrap/reach/maps.h"
#include "wrap/rules/based_rules.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WORD sizeof(uintptr_t)
#define PAGE ((uintptr_t)LEAKWRAP_PAGE)

/* The heap: a word between them may lead to a block. */
enum { LOW = 0x10000, HIGH = 0x20000 };

struct leakwrap_block_index leakwrap_block_index = {.low = LOW, .high = HIGH};

static char *pages; /* PAGES pages.  Page HOLE cannot be read */
enum { PAGES = 4, HOLE = 1 };

#if UINTPTR_MAX > UINT32_MAX
size_t leakwrap_halves_size;

/* Only addresses without data in the bits above stand in this memory. */
bool leakwrap_is_first_byte(uintptr_t address)
{
	(void)address;
	abort();
}

void leakwrap_halves_start(void)
{
}

void leakwrap_halves_scan(uintptr_t start, uintptr_t end,
                          void (*take)(uintptr_t half, uintptr_t place))
{
	(void)start, (void)end, (void)take;
}
#endif

/* The list of mappings does not have the pages. */
const struct leakwrap_mapping *leakwrap_mapping_at(uintptr_t address)
{
	(void)address;
	return NULL;
}

uintptr_t leakwrap_maps_readable_end(uintptr_t address, uintptr_t limit)
{
	const uintptr_t hole = (uintptr_t)pages + HOLE * PAGE;

	if (address >= hole && address < hole + PAGE)
		return address;
	return address < hole && limit > hole ? hole : limit;
}

static unsigned taken;
static uintptr_t last_word;

static void take(uintptr_t word, uintptr_t place)
{
	uintptr_t stored;

	memcpy(&stored, (const void *)place, sizeof(stored));
	CHECK(stored == word);
	last_word = word;
	taken++;
}

/* Returns how many words SCAN takes of the block from byte START to byte END of the pages. */
static unsigned count(struct leakwrap_word_scan *scan, size_t start, size_t end)
{
	taken = 0;
	leakwrap_word_scan_block(scan, (uintptr_t)pages + start, end - start);
	return taken;
}

static void put(size_t at, uintptr_t word)
{
	memcpy(pages + at, &word, sizeof(word));
}

/* A block goes on behind a page that the program has protected.  Words that lead to a little in
 * front of the heap are taken, too: element 0 of an array might be there (based_rules.h). */
static void skip_hole(void)
{
	struct leakwrap_word_scan scan;

	leakwrap_word_scan_start(&scan, take);
	put(8 * WORD, LOW);
	put(9 * WORD, LOW - BASED_ELEMENT_MAX - 1);
	put(10 * WORD, HIGH);
	put(11 * WORD, LOW - BASED_ELEMENT_MAX);
	put(2 * PAGE, LOW + 1);
	put(4 * PAGE - WORD, HIGH - 1);
	CHECK(count(&scan, 0, 4 * PAGE) == 4);
	CHECK(count(&scan, 0, 4 * PAGE - 1) == 3);
	CHECK(count(&scan, 8 * WORD + 1, PAGE) == 1);
	CHECK(count(&scan, PAGE + 8, 3 * PAGE) == 1 && last_word == LOW + 1);
	CHECK(leakwrap_word_scan_can_read(&scan, (uintptr_t)pages, PAGE));
	CHECK(!leakwrap_word_scan_can_read(&scan, (uintptr_t)pages, PAGE + 1));
	CHECK(!leakwrap_word_scan_can_read(&scan, UINTPTR_MAX - 3, 8));
	leakwrap_word_scan_end(&scan);
}

/* With pointer_step= a word may begin in one range and end in the next. */
static void scan_in_steps(void)
{
	struct leakwrap_word_scan scan;
	const uintptr_t start = (uintptr_t)pages + 2 * PAGE;

	memset(pages + 2 * PAGE, 0, PAGE);
	leakwrap_options.pointer_step = 1;
	leakwrap_word_scan_start(&scan, take);
	for (size_t at = 1; at < 3 * WORD; at++) {
		put(2 * PAGE + at, LOW + 2);
		taken = 0;
		leakwrap_word_scan_range(&scan, start, start + 2 * WORD);
		leakwrap_word_scan_range(&scan, start + 2 * WORD, start + 4 * WORD);
		CHECK(taken == 1 && last_word == LOW + 2);
		put(2 * PAGE + at, 0);
	}
	leakwrap_word_scan_end(&scan);
}

int main(void)
{
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	             0);
	CHECK(pages != MAP_FAILED && mprotect(pages + HOLE * PAGE, PAGE, PROT_NONE) == 0);
	skip_hole();
	scan_in_steps();
	return 0;
}
