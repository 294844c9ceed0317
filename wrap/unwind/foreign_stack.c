/* foreign_stack.c - see foreign_stack.h. */
#include "wrap/unwind/foreign_stack.h"

#include "wrap/port/port.h"
#include "wrap/unwind/read_set.h"

#include <stdatomic.h>
#include <string.h>

/* Crossings that an entry has room for.  With them an entry is a cache line. */
#define CROSSINGS_MAX 5

/* A word of the stack at OFFSET - 1 bytes above the entry's page.  OFFSET 0: none. */
struct crossing {
	uint32_t offset;
	uint32_t word; /* its lower half */
};

/* What is known of the stacks whose sp lies on PAGE.  Any thread may overwrite an entry while
 * another thread reads it: CHECK tells whether an entry is whole. */
struct entry {
	uintptr_t page;
	uintptr_t high; /* [PAGE, HIGH) can be read if the crossings are there */
	uint32_t pc;    /* the lower half of the pc whose frame is the first crossing, or 0 */
	uint32_t check;
	struct crossing crossing[CROSSINGS_MAX];
};

#define TABLE_BITS 14

static struct entry *_Atomic table; /* NULL: no foreign stack was walked yet */

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
}

static uint32_t hash_of(uintptr_t page, uint32_t pc)
{
	const uint64_t mixed = ((uint64_t)page / LEAKWRAP_PAGE + pc) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(mixed >> (64 - TABLE_BITS));
}

/* The sum needs no chain of multiplications, so the processor overlaps them. */
static inline uint32_t check_of(const struct entry *entry)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t sum =
	        (entry->page ^ entry->pc) * factor + entry->high * UINT64_C(0x9fb21c651e98df25);

#pragma GCC unroll 5
	for (unsigned i = 0; i < CROSSINGS_MAX; i++)
		sum += ((uint64_t)entry->crossing[i].word << 32 | entry->crossing[i].offset) *
		       (factor * (2 * i + 3));
	return (uint32_t)(sum >> 32) | 1;
}

/* Copies the entry at FROM.  Returns false if another thread is writing it. */
static inline bool load_entry(struct entry *entry, const struct entry *from)
{
	typedef uintptr_t __attribute__((may_alias)) any_word;
	any_word *to = (any_word *)entry;
	const any_word *word = (const any_word *)from;

	for (unsigned i = 0; i < sizeof(*entry) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&word[i], __ATOMIC_RELAXED);
	return entry->check == check_of(entry);
}

static void store_entry(struct entry *to, const struct entry *entry)
{
	typedef uintptr_t __attribute__((may_alias)) any_word;
	const any_word *word = (const any_word *)entry;
	any_word *at = (any_word *)to;

	for (unsigned i = 0; i < sizeof(*entry) / sizeof(*at); i++)
		__atomic_store_n(&at[i], word[i], __ATOMIC_RELAXED);
}

/* Do the words above SP prove that all up to ENTRY's high can be read?  PC: the caller's. */
static inline bool is_proved(const struct entry *entry, uintptr_t sp, uint32_t pc)
{
	uintptr_t at = sp;

	if (entry->page != page_of(sp) || (entry->pc != 0 && entry->pc != pc))
		return false;
	for (unsigned i = 0; i < CROSSINGS_MAX && entry->crossing[i].offset != 0; i++) {
		at = entry->page + entry->crossing[i].offset - 1;
		if (at < sp || (uint32_t)leakwrap_stack_word(at) != entry->crossing[i].word)
			return false;
	}
	return true;
}

/* Returns the high of the entry at FROM if it proves that it can be read, else SP. */
static inline uintptr_t proved_high(const struct entry *from, uintptr_t sp, uint32_t pc)
{
	struct entry entry;

	return load_entry(&entry, from) && is_proved(&entry, sp, pc) ? entry.high : sp;
}

uintptr_t leakwrap_foreign_stack_room(uintptr_t pc, uintptr_t sp)
{
	const struct entry *entries = atomic_load_explicit(&table, memory_order_acquire);
	const uintptr_t page = page_of(sp);
	uintptr_t high;

	if (!entries)
		return 0;
	high = proved_high(&entries[hash_of(page, 0)], sp, (uint32_t)pc);
	if (high == sp)
		high = proved_high(&entries[hash_of(page, (uint32_t)pc)], sp, (uint32_t)pc);
	return high - sp;
}

struct leakwrap_stack leakwrap_stack_of(uintptr_t pc, uintptr_t sp)
{
	const uintptr_t room = leakwrap_stack_is_own(sp) ? 0 : leakwrap_foreign_stack_room(pc, sp);

	return room == 0 ? leakwrap_stack_at(sp) : (struct leakwrap_stack){sp, sp + room, true};
}

/* -- remembering ------------------------------------------------------------------------------- */

/* Returns the table; maps it at the first use.  Returns NULL if there is no memory. */
static struct entry *find_table(void)
{
	const size_t size = sizeof(struct entry) << TABLE_BITS;
	struct entry *entries = atomic_load(&table), *mapped;

	if (entries)
		return entries;
	mapped = leakwrap_pages_map(size);
	if (!mapped || atomic_compare_exchange_strong(&table, &entries, mapped))
		return mapped;
	leakwrap_pages_unmap(mapped, size);
	return entries;
}

static uintptr_t address_of(const struct leakwrap_read_set *read_set, uintptr_t position)
{
	return read_set->sp + position * sizeof(uintptr_t);
}

/* Adds the word at AT, whose frame leads into another page.  Returns false if there is no room. */
static bool add_crossing(struct entry *entry, unsigned *count, uintptr_t at, uintptr_t word)
{
	if (*count == CROSSINGS_MAX || at - entry->page >= UINT32_MAX)
		return false;
	entry->crossing[(*count)++] =
	        (struct crossing){(uint32_t)(at - entry->page) + 1, (uint32_t)word};
	return true;
}

/* Fills ENTRY from the walk of TRACE.  Returns false if the walk ended at a word that may lie above
 * the stack, or if there are too many crossings. */
static bool fill_entry(struct entry *entry, const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *read_set = trace->read_set;
	const bool has_end = read_set->end_position != LEAKWRAP_STACK_POSITION_NONE;
	const unsigned returns = read_set->return_count;
	uintptr_t at = read_set->sp;
	unsigned count = 0;

	memset(entry, 0, sizeof(*entry));
	entry->page = page_of(at);
	for (unsigned i = 0; i < returns + has_end; i++) {
		const uintptr_t next = address_of(read_set, i < returns ? read_set->position[i]
		                                                        : read_set->end_position);

		if (next < at)
			return false;
		if (page_of(next) != page_of(at)) {
			/* Garbage may have led to a last word that is no return address. */
			if (i == returns && read_set->end_word != 0)
				return false;
			if (i == 0)
				entry->pc = (uint32_t)trace->pcs[0];
			else if (!add_crossing(entry, &count, at, leakwrap_stack_word(at)))
				return false;
		}
		at = next;
	}
	entry->high = at + sizeof(uintptr_t);
	return true;
}

/* Do the bytes from ENTRY's page up to its high include all words that the walk read? */
static bool holds_links(const struct entry *entry, const struct leakwrap_read_set *read_set)
{
	for (unsigned i = 0; i < read_set->link_count; i++)
		if (address_of(read_set, read_set->link[i].position) >= entry->high)
			return false;
	return true;
}

/* Probes the pages from ENTRY's page up to its high.  Returns false if one cannot be read. */
static bool probe(struct leakwrap_stack *stack, const struct entry *entry)
{
	for (uintptr_t page = entry->page; page < entry->high; page += LEAKWRAP_PAGE)
		if (!leakwrap_stack_reach(stack, page, 1))
			return false;
	return true;
}

/* Stores ENTRY in ENTRIES, or finds an entry there that already says as much.  The second place of
 * a page serves stacks that cross into the next page from different functions.  Returns the high of
 * the entry that leakwrap_foreign_stack_room will find. */
static uintptr_t store(struct entry *entries, const struct entry *entry,
                       const struct leakwrap_trace *trace)
{
	const uint32_t pc = (uint32_t)trace->pcs[0];
	const uint32_t places[] = {hash_of(entry->page, 0), hash_of(entry->page, pc)};
	uint32_t place = places[0];

	for (unsigned i = 0; i < 2; i++) {
		struct entry old;

		if (!load_entry(&old, &entries[places[i]]) || old.page != entry->page)
			continue;
		if (is_proved(&old, trace->read_set->sp, pc)) {
			if (old.high >= entry->high)
				return old.high;
			place = places[i];
			break;
		}
		place = places[1];
	}
	store_entry(&entries[place], entry);
	return entry->high;
}

void leakwrap_foreign_stack_remember(struct leakwrap_stack *stack,
                                     const struct leakwrap_trace *trace)
{
	const struct leakwrap_read_set *read_set = trace->read_set;
	struct entry entry, *entries;

	if (!stack->foreign || !read_set->usable || trace->kind == LEAKWRAP_TRACE_GUESSED ||
	    !fill_entry(&entry, trace) || !holds_links(&entry, read_set) || !probe(stack, &entry))
		return;
	entries = find_table();
	if (!entries)
		return;
	entry.check = check_of(&entry);
	stack->high = store(entries, &entry, trace);
	stack->foreign = false;
}
