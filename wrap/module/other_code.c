/* other_code.c - see other_code.h.
 *
 * There are two tables: one is in use, and the next reading fills the other one.  The number of
 * readings tells which is in use.  A reader that finds another number afterwards looks again. */
#include "wrap/module/other_code.h"

#include "wrap/base/common.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <stddef.h>

/* The two tables take less than 4 KB.  If there are more ranges, the smallest are left out: ranges
 * are not joined over other memory, which may be unmapped at any time. */
#define RANGES_MAX 120u

/* The unit of the pauses, and the longest pauses, nearly. */
#define TICK_NS (1000000000u / 64)
#define SECOND  64u
#define MINUTE  (64u * 64)

/* leakwrap_other_code_read_at_times reads the clock at one of this number of calls. */
#define CALLS_PER_LOOK 16u

/* The addresses that are remembered for leakwrap_other_code_note_missed. */
#define MISSED_MAX 16u

struct range {
	_Atomic uintptr_t start, end;
};

struct table {
	struct range range[RANGES_MAX]; /* sorted; none touch each other */
	_Atomic uint32_t count;
};

static LEAKWRAP_TABLE struct table tables[2];

static struct {
	_Atomic uint32_t readings; /* the last bit is the index of the table that is in use */
	_Atomic uint32_t calls;    /* one may be lost if two threads call at once */
	_Atomic uint32_t pause;    /* in ticks; 0: there was no reading */
	_Atomic uint32_t least;    /* the shortest pause after the latest reading, in ticks */
	_Atomic uint32_t last;     /* when the latest reading was, in ticks */
	/* Pages that were asked for, and were not in the table (missed_slot). */
	_Atomic uintptr_t missed[MISSED_MAX];
	void (*_Atomic on_change)(void);
} code;

/* -- asking ------------------------------------------------------------------------------------ */

/* Returns whether TABLE has a range that holds the bytes from FIRST to LAST. */
static bool has_range(const struct table *table, uintptr_t first, uintptr_t last)
{
	uint32_t low = 0, high = atomic_load_explicit(&table->count, memory_order_relaxed);

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct range *const range = &table->range[middle];

		if (atomic_load_explicit(&range->end, memory_order_relaxed) <= first)
			low = middle + 1;
		else if (atomic_load_explicit(&range->start, memory_order_relaxed) > first)
			high = middle;
		else
			return atomic_load_explicit(&range->end, memory_order_relaxed) > last;
	}
	return false;
}

bool leakwrap_is_other_code(uintptr_t address)
{
	uint32_t number;
	bool is_in;

	do {
		number = atomic_load_explicit(&code.readings, memory_order_acquire);
		is_in = has_range(&tables[number & 1], address, address);
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&code.readings, memory_order_relaxed) != number);
	return is_in;
}

/* Returns where it is remembered that a walk asked for the page of ADDRESS, and sets *PAGE to that
 * page.  The word there is the page's address.  It is 1 more if a reading since has not found the
 * page. */
static _Atomic uintptr_t *missed_slot(uintptr_t address, uintptr_t *page)
{
	*page = address & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
	return &code.missed[*page / LEAKWRAP_PAGE % MISSED_MAX];
}

bool leakwrap_other_code_note_missed(uintptr_t address)
{
	uintptr_t page;
	_Atomic uintptr_t *const slot = missed_slot(address, &page);
	const uintptr_t word = atomic_load_explicit(slot, memory_order_relaxed);

	if (word == (page | 1))
		return true;
	if (word != page)
		atomic_store_explicit(slot, page, memory_order_relaxed);
	return false;
}

/* -- reading ----------------------------------------------------------------------------------- */

struct reading {
	struct table *table;
	uintptr_t buffer;
	bool is_all_executable;
};

static uintptr_t size_of(const struct range *range)
{
	return range->end - range->start;
}

/* Adds the range from START to END, which lies above the others.  If TABLE is full, leaves out the
 * smallest range. */
static void add_range(struct table *table, uintptr_t start, uintptr_t end)
{
	uint32_t smallest = 0;

	if (table->count > 0 && table->range[table->count - 1].end == start) {
		table->range[table->count - 1].end = end;
		return;
	}
	if (table->count == RANGES_MAX) {
		for (uint32_t i = 1; i < RANGES_MAX; i++)
			if (size_of(&table->range[i]) < size_of(&table->range[smallest]))
				smallest = i;
		if (size_of(&table->range[smallest]) >= end - start)
			return;
		for (uint32_t i = smallest; i + 1 < RANGES_MAX; i++) {
			table->range[i].start = table->range[i + 1].start;
			table->range[i].end = table->range[i + 1].end;
		}
		table->count--;
	}
	table->range[table->count].start = start;
	table->range[table->count].end = end;
	table->count++;
}

/* Returns whether MAPPING is a device's.  The kernel's own code is no file's, and not shared: some
 * kernels have signal handlers return to it. */
static bool is_device(const struct leakwrap_mapping *mapping)
{
	return mapping->is_special && (mapping->is_file || mapping->is_shared);
}

static bool add_mapping(void *context, const struct leakwrap_mapping *mapping)
{
	struct reading *const reading = context;

	if (!mapping->is_executable || !mapping->is_readable)
		return true;
	/* The tracer's buffer was not mapped as executable. */
	reading->is_all_executable |=
	        reading->buffer - mapping->start < mapping->end - mapping->start;
	if (!is_device(mapping) && !mapping->is_stack && !leakwrap_module_at(mapping->start))
		add_range(reading->table, mapping->start, mapping->end);
	return true;
}

/* Fills TABLE.  If the mappings cannot be read, it becomes empty. */
static void fill(struct table *table)
{
	char *const buffer = leakwrap_scratch_map(LEAKWRAP_MAPPING_LINE_MAX);
	struct reading reading = {.table = table, .buffer = (uintptr_t)buffer};

	table->count = 0;
	if (!buffer)
		return;
	if (!leakwrap_mappings_each(buffer, LEAKWRAP_MAPPING_LINE_MAX, add_mapping, &reading) ||
	    reading.is_all_executable)
		table->count = 0;
	leakwrap_scratch_unmap(buffer, LEAKWRAP_MAPPING_LINE_MAX);
}

/* Returns whether a range of TABLE is not in BEFORE. */
static bool has_new(const struct table *table, const struct table *before)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (!has_range(before, table->range[i].start, table->range[i].end - 1))
			return true;
	return false;
}

/* Notes which of the pages that were asked for are no code. */
static void confirm_missed(const struct table *table)
{
	for (unsigned i = 0; i < MISSED_MAX; i++) {
		uintptr_t page = code.missed[i];

		if (page != 0 && (page & 1) == 0 && !has_range(table, page, page))
			atomic_compare_exchange_strong(&code.missed[i], &page, page | 1);
	}
}

/* Reads the ranges, and returns whether there are new ones.  The caller holds the tables' lock. */
static bool read_ranges(void)
{
	const uint32_t number = code.readings;
	struct table *const table = &tables[(number + 1) & 1];
	bool is_new;

	/* Who sees a word that is written now sees the number of the latest reading. */
	atomic_thread_fence(memory_order_release);
	fill(table);
	is_new = has_new(table, &tables[number & 1]);
	atomic_store_explicit(&code.readings, number + 1, memory_order_release);
	confirm_missed(table);
	return is_new;
}

/* Returns whether a reading is due at NOW, after a pause of LONGEST ticks at most, unless readings
 * take long.  The ticks turn in two years. */
static bool is_due(uint32_t now, uint32_t longest)
{
	const uint32_t pause = code.pause < longest ? code.pause : longest, least = code.least;

	return now - code.last >= (pause > least ? pause : least) || pause == 0;
}

/* Sets the pauses after a reading that began at the time BEGIN, in nanoseconds, and has ended.  A
 * pause lasts at least 64 times as long: a process may have tens of thousands of mappings. */
static void set_pause(uint64_t begin, bool has_found)
{
	const uint64_t now = leakwrap_time_monotonic();
	const uint32_t longest = has_found ? SECOND : MINUTE;
	const uint32_t twice = code.pause == 0 ? 1 : 2 * code.pause;

	code.last = (uint32_t)(now / TICK_NS);
	code.least = (uint32_t)(64 * (now - begin) / TICK_NS);
	code.pause = twice < longest ? twice : longest;
}

/* Bytes of the stack that a reading takes under the lock. */
#define STACK_USED 800

void leakwrap_other_code_read(bool is_urgent)
{
	const uint64_t begin = leakwrap_time_monotonic();
	const uint32_t now = (uint32_t)(begin / TICK_NS);
	const uint32_t longest = is_urgent ? SECOND : MINUTE;
	void (*on_change)(void);
	bool has_found;

	if (!is_due(now, longest))
		return;
	leakwrap_touch_stack(STACK_USED);
	if (!leakwrap_trylock(&leakwrap_tables_lock))
		return;
	if (is_due(now, longest)) {
		has_found = read_ranges();
		set_pause(begin, has_found);
		on_change = has_found ? atomic_load(&code.on_change) : NULL;
		if (has_found)
			leakwrap_modules_begin_generation();
		if (on_change)
			on_change();
	}
	leakwrap_unlock(&leakwrap_tables_lock);
}

void leakwrap_other_code_read_at_times(void)
{
	const uint32_t calls = atomic_load_explicit(&code.calls, memory_order_relaxed);

	atomic_store_explicit(&code.calls, calls + 1, memory_order_relaxed);
	if (calls % CALLS_PER_LOOK == 0)
		leakwrap_other_code_read(false);
}

void leakwrap_other_code_set_change_hook(void (*on_change)(void))
{
	atomic_store(&code.on_change, on_change);
}
