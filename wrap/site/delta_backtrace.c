/* delta_backtrace.c - see delta_backtrace.h. */
#include "wrap/site/delta_backtrace.h"

#include "wrap/live/slot.h"

#include <string.h>

#define GROUP LEAKWRAP_DELTA_GROUP

/* The most bytes that a number of 32 bits takes in SLEB128. */
#define SLEB128_MAX 5

/* The most bytes of a delta backtrace with so many frames. */
#define ENCODED_MAX(frames) (SLEB128_MAX + (SLEB128_MAX + 1) * (size_t)(frames) + 1)

/* Writes NUMBER at TO.  Returns the end of the written bytes. */
static uint8_t *write_sleb128(uint8_t *to, uint32_t number)
{
	int32_t left = (int32_t)number;

	for (; left < -64 || left > 63; left >>= 7)
		*to++ = (uint8_t)(left | 0x80);
	*to++ = left & 0x7f;
	return to;
}

/* Reads the number at *AT and moves *AT behind it. */
static uint32_t read_sleb128(const uint8_t **at)
{
	uint32_t number = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = *(*at)++;
		number |= (uint32_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	/* Bit 6 of the last byte is the sign.  It fills the bits above. */
	if (shift < 32 && (byte & 0x40))
		number |= UINT32_MAX << shift;
	return number;
}

leakwrap_pool_offset leakwrap_delta_encode(const struct leakwrap_trace *trace, uint32_t base_site,
                                           const uint32_t *low_halves, bool has_lock)
{
	uint8_t encoded[ENCODED_MAX(trace->depth)];
	uint8_t *end = write_sleb128(encoded, base_site), *group_bitmap = end, *frame_bitmap = NULL;

	_Static_assert(ENCODED_MAX(LEAKWRAP_MAX_DEPTH) <= LEAKWRAP_BYTES_MAX,
	               "a chunk holds the longest delta");
#if UINTPTR_MAX > UINT32_MAX
	_Static_assert(LEAKWRAP_BYTE_CHUNKS *
	                               (LEAKWRAP_BYTES_MAX / ENCODED_MAX(LEAKWRAP_MAX_DEPTH)) >
	                       LEAKWRAP_SITE_LIMIT,
	               "the byte pool holds the deltas of all call sites");
#endif
	for (unsigned i = 0; i < trace->depth; i++) {
		const uint32_t offset = (uint32_t)trace->pcs[i] - low_halves[i];

		if (i % (GROUP * GROUP) == 0) {
			group_bitmap = end++;
			*group_bitmap = 0;
		}
		if (i % GROUP == 0)
			frame_bitmap = NULL;
		if (offset == 0)
			continue;
		if (!frame_bitmap) {
			*group_bitmap |= (uint8_t)(1u << i / GROUP % GROUP);
			frame_bitmap = end++;
			*frame_bitmap = 0;
		}
		*frame_bitmap |= (uint8_t)(1u << i % GROUP);
		end = write_sleb128(end, offset);
	}
	return has_lock ? leakwrap_byte_pool_add(encoded, (size_t)(end - encoded), false)
	                : leakwrap_byte_pool_try_add(encoded, (size_t)(end - encoded));
}

leakwrap_pool_offset leakwrap_delta_encode_base(const struct leakwrap_base_backtrace *base,
                                                bool from_reserve)
{
	uint8_t encoded[SLEB128_MAX + sizeof(base)];
	uint8_t *end = write_sleb128(encoded, LEAKWRAP_SITE_NONE);

	memcpy(end, &base, sizeof(base));
	end += sizeof(base);
	return leakwrap_byte_pool_add(encoded, (size_t)(end - encoded), from_reserve);
}

uint32_t leakwrap_delta_read_site(struct leakwrap_delta_reader *reader, leakwrap_pool_offset bytes,
                                  const struct leakwrap_base_backtrace **base)
{
	uint32_t base_site;

	reader->at = leakwrap_byte_pool_at(bytes);
	base_site = read_sleb128(&reader->at);
	if (base_site == LEAKWRAP_SITE_NONE)
		memcpy(base, reader->at, sizeof(*base));
	return base_site;
}

unsigned leakwrap_delta_read_bitmap(struct leakwrap_delta_reader *reader, unsigned frame)
{
	if (frame % (GROUP * GROUP) == 0)
		reader->group_bitmap = *reader->at++;
	reader->frame_bitmap =
	        reader->group_bitmap >> frame / GROUP % GROUP & 1 ? *reader->at++ : 0;
	return reader->frame_bitmap;
}

uint32_t leakwrap_delta_read_offset(struct leakwrap_delta_reader *reader, unsigned frame)
{
	return reader->frame_bitmap >> frame % GROUP & 1 ? read_sleb128(&reader->at) : 0;
}

leakwrap_pool_offset leakwrap_delta_copy(leakwrap_pool_offset bytes, unsigned depth)
{
	const uint8_t *const start = leakwrap_byte_pool_at(bytes);
	const struct leakwrap_base_backtrace *base;
	struct leakwrap_delta_reader reader = {.at = NULL};

	if (leakwrap_delta_read_site(&reader, bytes, &base) == LEAKWRAP_SITE_NONE) {
		reader.at += sizeof(base);
	} else {
		for (unsigned frame = 0; frame < depth; frame++) {
			if (frame % GROUP == 0)
				leakwrap_delta_read_bitmap(&reader, frame);
			leakwrap_delta_read_offset(&reader, frame);
		}
	}
	return leakwrap_byte_pool_add(start, (size_t)(reader.at - start), false);
}
