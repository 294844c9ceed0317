/* delta_backtrace.c - see delta_backtrace.h. */
#include "wrap/site/delta_backtrace.h"

#include "wrap/live/live.h"
#include "wrap/site/site_table.h"

#include <string.h>

#define SHARING LEAKWRAP_DELTA_GROUP

/* The longest offset, in bytes. */
#define OFFSET_MAX 5

static uint8_t *write_offset(uint8_t *to, uint32_t offset)
{
	int32_t left = (int32_t)offset;

	for (; left < -64 || left > 63; left >>= 7)
		*to++ = (uint8_t)(left | 0x80);
	*to++ = left & 0x7f;
	return to;
}

static uint32_t read_offset(const uint8_t **at)
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

leakwrap_pool_offset leakwrap_delta_encode(const struct leakwrap_trace *trace, uint32_t number,
                                           const uint32_t *low)
{
	static uint8_t written[OFFSET_MAX + (OFFSET_MAX + 1) * LEAKWRAP_MAX_DEPTH];
	uint8_t *end = write_offset(written, number), *groups = end, *differing = NULL;

	_Static_assert(sizeof(written) <= LEAKWRAP_BYTE_CHUNK, "a piece has room for it");
#if UINTPTR_MAX > UINT32_MAX
	_Static_assert(LEAKWRAP_BYTE_CHUNKS * (LEAKWRAP_BYTE_CHUNK / sizeof(written)) >
	                       LEAKWRAP_SITE_LIMIT,
	               "all call sites have room");
#endif
	for (unsigned i = 0; i < trace->depth; i++) {
		const uint32_t offset = (uint32_t)trace->pcs[i] - low[i];

		if (i % (SHARING * SHARING) == 0) {
			groups = end++;
			*groups = 0;
		}
		if (i % SHARING == 0)
			differing = NULL;
		if (offset == 0)
			continue;
		if (!differing) {
			*groups |= (uint8_t)(1u << i / SHARING % SHARING);
			differing = end++;
			*differing = 0;
		}
		*differing |= (uint8_t)(1u << i % SHARING);
		end = write_offset(end, offset);
	}
	return leakwrap_byte_pool_add(written, (size_t)(end - written), false);
}

leakwrap_pool_offset leakwrap_delta_encode_base(const struct leakwrap_base_backtrace *whole,
                                                bool from_reserve)
{
	uint8_t written[OFFSET_MAX + sizeof(whole)];
	uint8_t *end = write_offset(written, LEAKWRAP_SITE_NONE);

	memcpy(end, &whole, sizeof(whole));
	end += sizeof(whole);
	return leakwrap_byte_pool_add(written, (size_t)(end - written), from_reserve);
}

uint32_t leakwrap_delta_read_site(struct leakwrap_delta_reader *offsets, leakwrap_pool_offset bytes,
                                  const struct leakwrap_base_backtrace **whole)
{
	uint32_t number;

	offsets->at = leakwrap_byte_pool_at(bytes);
	number = read_offset(&offsets->at);
	if (number == LEAKWRAP_SITE_NONE)
		memcpy(whole, offsets->at, sizeof(*whole));
	return number;
}

unsigned leakwrap_delta_read_bitmap(struct leakwrap_delta_reader *offsets, unsigned frame)
{
	if (frame % (SHARING * SHARING) == 0)
		offsets->groups = *offsets->at++;
	offsets->differing = offsets->groups >> frame / SHARING % SHARING & 1 ? *offsets->at++ : 0;
	return offsets->differing;
}

uint32_t leakwrap_delta_read_offset(struct leakwrap_delta_reader *offsets, unsigned frame)
{
	return offsets->differing >> frame % SHARING & 1 ? read_offset(&offsets->at) : 0;
}
