/* delta_backtrace.c - see delta_backtrace.h. */
#include "wrap/site/delta_backtrace.h"

#include "wrap/live/slot.h"

#include <string.h>

/* Frames per group, and groups per bitmap of groups. */
#define GROUP 8u

/* The most bytes that a number of 32 bits takes in SLEB128. */
#define SLEB128_MAX 5

/* The most bytes of a delta backtrace with so many frames. */
#define ENCODED_MAX(frames) (SITE_BYTES + (SLEB128_MAX + 1) * (size_t)(frames) + 1)

/* Writes NUMBER at TO.  Returns the end of the written bytes. */
static uint8_t *write_sleb128(uint8_t *to, uint32_t number)
{
	int32_t left = (int32_t)number;

	for (; left < -64 || left > 63; left >>= 7)
		*to++ = (uint8_t)(left | 0x80);
	*to++ = left & 0x7f;
	return to;
}

/* Reads the number at *AT and moves *AT behind it.  Most numbers have one or two bytes. */
static inline uint32_t read_sleb128(const uint8_t **at)
{
	const uint8_t *byte = *at;
	uint32_t number = *byte & 0x7fu;
	unsigned shift = 7;

	for (; *byte++ & 0x80; shift += 7)
		number |= (*byte & 0x7fu) << shift;
	*at = byte;
	/* Bit 6 of the last byte is the sign.  It fills the bits above. */
	if (shift < 32 && (byte[-1] & 0x40))
		number |= UINT32_MAX << shift;
	return number;
}

/* Bytes of a base site's number.  The lowest byte is the first. */
#define SITE_BYTES ((LEAKWRAP_SITE_BITS + 7) / 8)

static uint8_t *write_site(uint8_t *to, uint32_t number)
{
	for (unsigned i = 0; i < SITE_BYTES; i++)
		*to++ = (uint8_t)(number >> 8 * i);
	return to;
}

static inline uint32_t read_site(const uint8_t **at)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < SITE_BYTES; i++)
		number |= (uint32_t)*(*at)++ << 8 * i;
	return number;
}

/* Returns the address in the same 4 GiB as PC that is OFFSET behind it. */
static uintptr_t add_to_low_half(uintptr_t pc, uint32_t offset)
{
	return (pc & ~(uintptr_t)UINT32_MAX) | (uint32_t)(pc + offset);
}

/* Writes at TO the bitmap and the offsets of the COUNT frames PCS of a group, against BASE_PCS.
 * Returns the end of the written bytes.  Returns TO if no frame differs, and NULL if a high half
 * differs. */
static uint8_t *write_group(uint8_t *to, const uintptr_t *pcs, const uintptr_t *base_pcs,
                            unsigned count)
{
	uint8_t *end = to + 1;
	unsigned bitmap = 0;

	for (unsigned i = 0; i < count; i++) {
		const uint32_t offset = (uint32_t)pcs[i] - (uint32_t)base_pcs[i];

		if (pcs[i] == base_pcs[i])
			continue;
		if (add_to_low_half(base_pcs[i], offset) != pcs[i])
			return NULL;
		bitmap |= 1u << i;
		end = write_sleb128(end, offset);
	}
	*to = (uint8_t)bitmap;
	return bitmap != 0 ? end : to;
}

leakwrap_pool_offset leakwrap_delta_encode(const struct leakwrap_trace *trace, uint32_t base_site,
                                           const uintptr_t *base_pcs, bool has_lock)
{
	const unsigned depth = trace->depth;
	uint8_t encoded[ENCODED_MAX(depth)];
	uint8_t *end = write_site(encoded, base_site), *group_bitmap = end;

	_Static_assert(ENCODED_MAX(LEAKWRAP_MAX_DEPTH) <= LEAKWRAP_BYTES_MAX,
	               "a chunk holds the longest delta");
#if UINTPTR_MAX > UINT32_MAX
	_Static_assert(LEAKWRAP_BYTE_CHUNKS *
	                               (LEAKWRAP_BYTES_MAX / ENCODED_MAX(LEAKWRAP_MAX_DEPTH)) >
	                       LEAKWRAP_SITE_LIMIT,
	               "the byte pool holds the deltas of all call sites");
#endif
	for (unsigned i = 0; i < depth; i += GROUP) {
		const unsigned count = depth - i < GROUP ? depth - i : GROUP;
		uint8_t *group;

		if (i % (GROUP * GROUP) == 0) {
			group_bitmap = end++;
			*group_bitmap = 0;
		}
		group = end;
		end = write_group(group, trace->pcs + i, base_pcs + i, count);
		if (!end)
			return 0;
		if (end != group)
			*group_bitmap |= (uint8_t)(1u << i / GROUP % GROUP);
	}
	return has_lock ? leakwrap_byte_pool_add(encoded, (size_t)(end - encoded), false)
	                : leakwrap_byte_pool_try_add(encoded, (size_t)(end - encoded));
}

leakwrap_pool_offset leakwrap_delta_encode_base(const struct leakwrap_base_backtrace *base,
                                                bool from_reserve)
{
	uint8_t encoded[SITE_BYTES + sizeof(base)];
	uint8_t *end = write_site(encoded, LEAKWRAP_SITE_NONE);

	memcpy(end, &base, sizeof(base));
	end += sizeof(base);
	return leakwrap_byte_pool_add(encoded, (size_t)(end - encoded), from_reserve);
}

uint32_t leakwrap_delta_read_site(leakwrap_pool_offset bytes, const uint8_t **offsets,
                                  const struct leakwrap_base_backtrace **base)
{
	uint32_t base_site;

	*offsets = leakwrap_byte_pool_at(bytes);
	base_site = read_site(offsets);
	if (base_site == LEAKWRAP_SITE_NONE)
		memcpy(base, *offsets, sizeof(*base));
	return base_site;
}

const uint8_t *leakwrap_delta_add_offsets(const uint8_t *offsets, unsigned depth, uintptr_t *pcs)
{
	for (unsigned first = 0; first < depth; first += GROUP * GROUP) {
		unsigned groups = *offsets++;

		for (; groups != 0; groups &= groups - 1) {
			const unsigned group = first + GROUP * (unsigned)__builtin_ctz(groups);
			unsigned frames = *offsets++;

			for (; frames != 0; frames &= frames - 1) {
				const unsigned frame = group + (unsigned)__builtin_ctz(frames);
				const uint32_t offset = read_sleb128(&offsets);

				if (pcs)
					pcs[frame] = add_to_low_half(pcs[frame], offset);
			}
		}
	}
	return offsets;
}

leakwrap_pool_offset leakwrap_delta_copy(leakwrap_pool_offset bytes, unsigned depth)
{
	const uint8_t *const start = leakwrap_byte_pool_at(bytes), *end;
	const struct leakwrap_base_backtrace *base;

	if (leakwrap_delta_read_site(bytes, &end, &base) == LEAKWRAP_SITE_NONE)
		end += sizeof(base);
	else
		end = leakwrap_delta_add_offsets(end, depth, NULL);
	return leakwrap_byte_pool_add(start, (size_t)(end - start), false);
}
