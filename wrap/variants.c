/* variants.c - see variants.h. */
#include "variants.h"

#include "arena.h"
#include "hashed.h"
#include "kept.h"
#include "sites.h"
#include "words.h"

#include <stdatomic.h>
#include <string.h>

/* An entry: the key, and the number of the call site; LEAKWRAP_SITE_NONE: no entry. */
struct variant {
	uint32_t key[2];
	_Atomic uint32_t number;
};

static uint64_t key_at(const struct variant *entry)
{
	uint64_t key;

	memcpy(&key, entry->key, sizeof(key));
	return key;
}

/* By what KEY chooses an entry. */
static uintptr_t choice(uint64_t key)
{
	return leakwrap_hashed_key_of_upper((uint32_t)(key >> 32));
}

/* Of all patterns. */
static struct leakwrap_hashed *_Atomic variants;

/* So many there is room for from the start. */
#define LEAST_VARIANTS 100

/* The number of the call site with KEY in TABLE, or LEAKWRAP_SITE_NONE. */
LEAKWRAP_INLINE uint32_t find(const struct leakwrap_hashed *table, uint64_t key)
{
	const struct variant *entry =
	        (const struct variant *)table->entries + leakwrap_hashed_chosen(table, choice(key));

	for (;; entry++) {
		uint32_t number = atomic_load_explicit(&entry->number, memory_order_acquire);

		if (leakwrap_unlikely(number == LEAKWRAP_SITE_NONE))
			return LEAKWRAP_SITE_NONE;
		if (leakwrap_likely(key_at(entry) == key))
			return number;
	}
}

/* -- on the allocation path ------------------------------------------------------------------------ */

/* SUM, and the words of the group of places PLACE. */
LEAKWRAP_INLINE struct leakwrap_sum sum_at(struct leakwrap_sum sum, uintptr_t sp, const uint16_t *place)
{
	return leakwrap_sum_and(sum, leakwrap_return_at(sp, place[0]), leakwrap_return_at(sp, place[1]),
	                        leakwrap_return_at(sp, place[2]), leakwrap_return_at(sp, place[3]));
}

uint32_t leakwrap_variant_recall(const struct leakwrap_pattern *pattern, uintptr_t sp)
{
	const uint16_t *place = leakwrap_varying_at(pattern);
	struct leakwrap_sum sum = sum_at(leakwrap_sum_from((uintptr_t)pattern), sp, place);

	for (int left = pattern->varying; left > LEAKWRAP_SUMMED_AT_ONCE;
	     left -= LEAKWRAP_SUMMED_AT_ONCE) {
		place += LEAKWRAP_SUMMED_AT_ONCE;
		sum = sum_at(sum, sp, place);
	}
	return find(atomic_load_explicit(&variants, memory_order_acquire), leakwrap_key_of(sum));
}

/* -- when a stack was not recognized and has been walked ----------------------------------------------- */

/* The key of the stack with the return addresses PCS, which PATTERN holds for. */
static uint64_t key_of(const struct leakwrap_pattern *pattern, const uintptr_t *pcs)
{
	const uint16_t *frame = leakwrap_pattern_frames(pattern);
	const unsigned last = pattern->varying - 1u;
	struct leakwrap_sum sum = leakwrap_sum_from((uintptr_t)pattern);

	for (unsigned i = 0; i <= last; i += LEAKWRAP_SUMMED_AT_ONCE)
		sum = leakwrap_sum_and(sum, pcs[frame[i]], pcs[frame[i + 1 < last ? i + 1 : last]],
		                       pcs[frame[i + 2 < last ? i + 2 : last]],
		                       pcs[frame[i + 3 < last ? i + 3 : last]]);
	return leakwrap_key_of(sum);
}

/* Offsets are kept as SLEB128 (DWARF 5, section 7.6): calls of one function, and of neighbours, take one or two bytes. */
#define OFFSET_MAX 5

static uint8_t *write_offset(uint8_t *to, uint32_t offset)
{
	int32_t left = (int32_t)offset;

	for (; left < -64 || left > 63; left >>= 7)
		*to++ = (uint8_t)(left | 0x80);
	*to++ = left & 0x7f;
	return to;
}

uint32_t leakwrap_variant_offset(const uint8_t **at)
{
	uint32_t offset = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = *(*at)++;
		offset |= (uint32_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	/* The upper one of the last seven bits is the sign of those that are missing. */
	if (shift < 32 && (byte & 0x40))
		offset |= UINT32_MAX << shift;
	return offset;
}

bool leakwrap_variant_express(struct leakwrap_site *site, const struct leakwrap_pattern *pattern,
                              const uintptr_t *pcs)
{
	static uint8_t offsets[OFFSET_MAX * LEAKWRAP_MAX_DEPTH];
	const uint16_t *frame = leakwrap_pattern_frames(pattern);
	uint8_t *end = offsets, *kept;

	for (unsigned i = 0; i < pattern->varying; i++)
		end = write_offset(end, (uint32_t)pcs[frame[i]] - pattern->like->low[frame[i]]);
	kept = leakwrap_arena_take_bytes((size_t)(end - offsets));
	if (!kept)
		return false;
	memcpy(kept, offsets, (size_t)(end - offsets));
	site->pattern = pattern;
	site->offsets = kept;
	return true;
}

static uint32_t number_at(const void *entry)
{
	return atomic_load(&((const struct variant *)entry)->number);
}

static bool is_used(const void *entry)
{
	return number_at(entry) != LEAKWRAP_SITE_NONE;
}

static uintptr_t key_of_entry(const void *entry, const void *unused)
{
	(void)unused;
	return choice(key_at(entry));
}

static const struct leakwrap_hashed_kind entries = {
        .size = sizeof(struct variant),
        .is_used = is_used,
        .key = key_of_entry,
};

bool leakwrap_variant_add(struct leakwrap_pattern *pattern, uint32_t number, const uintptr_t *pcs)
{
	const uint64_t key = key_of(pattern, pcs);
	struct variant *entry;

	if (!atomic_load(&variants))
		atomic_store(&variants, leakwrap_hashed_make(&entries, LEAST_VARIANTS));
	else if (find(atomic_load(&variants), key) != LEAKWRAP_SITE_NONE)
		return false;
	entry = leakwrap_hashed_room(&variants, &entries, NULL, choice(key));
	if (!entry)
		return false;
	memcpy(entry->key, &key, sizeof(key));
	atomic_store_explicit(&entry->number, number, memory_order_release);
	return true;
}

/* -- the members of a layout ------------------------------------------------------------------------ */

struct leakwrap_guest {
	const struct leakwrap_guest *older;
	uint32_t number;
};

/* The one behind NUMBER that was new. */
static uint32_t *older_than(uint32_t number)
{
	return &leakwrap_site_chunk(number)->older[number % LEAKWRAP_SITE_CHUNK];
}

void leakwrap_variant_joins(struct leakwrap_members *members, uint32_t number, bool is_new)
{
	struct leakwrap_guest *guest;

	if (is_new) {
		*older_than(number) = members->newest;
		members->newest = number;
	} else {
		guest = leakwrap_arena_take(sizeof(*guest));
		if (!guest) /* it will be learned once more */
			return;
		*guest = (struct leakwrap_guest){members->guests, number};
		members->guests = guest;
	}
	members->count++;
}

static bool inherit_site(struct leakwrap_pattern *pattern, uint32_t number)
{
	static uintptr_t pcs[LEAKWRAP_MAX_DEPTH];
	struct leakwrap_trace trace = {.pcs = pcs};

	leakwrap_site_read(number, &trace);
	return leakwrap_variant_add(pattern, number, pcs);
}

bool leakwrap_variants_inherit(struct leakwrap_pattern *pattern, const struct leakwrap_members *members)
{
	const struct leakwrap_guest *guest = members->guests;

	for (uint32_t number = members->newest; number != LEAKWRAP_SITE_NONE;
	     number = *older_than(number))
		if (!inherit_site(pattern, number))
			return false;
	for (; guest; guest = guest->older)
		if (!inherit_site(pattern, guest->number))
			return false;
	return true;
}
