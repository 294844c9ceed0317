/* offsets.c - see offsets.h. */
#include "offsets.h"

#include "arena.h"

#include <string.h>

/* So many frames share a byte; and the longest offset, in bytes. */
#define SHARING    8
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

const uint8_t *leakwrap_offsets_make(const struct leakwrap_trace *trace,
                                     const struct leakwrap_kept *like)
{
	static uint8_t written[(OFFSET_MAX + 1) * LEAKWRAP_MAX_DEPTH];
	uint8_t *end = written, *differing = written, *made;

	for (unsigned i = 0; i < trace->depth; i++) {
		const uint32_t offset = (uint32_t)trace->pcs[i] - like->low[i];

		if (i % SHARING == 0) {
			differing = end++;
			*differing = 0;
		}
		if (offset == 0)
			continue;
		*differing |= (uint8_t)(1u << i % SHARING);
		end = write_offset(end, offset);
	}
	made = leakwrap_arena_take_bytes((size_t)(end - written));
	if (made)
		memcpy(made, written, (size_t)(end - written));
	return made;
}

uint32_t leakwrap_offset_of(struct leakwrap_offsets *offsets, unsigned frame)
{
	if (frame % SHARING == 0)
		offsets->differing = *offsets->at++;
	return offsets->differing >> frame % SHARING & 1 ? read_offset(&offsets->at) : 0;
}
