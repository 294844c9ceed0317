/* delta_backtrace.c - see delta_backtrace.h. */
#include "wrap/site/delta_backtrace.h"

#include "wrap/base/site_number.h"

#include <string.h>

/* Frames per group, and groups per bitmap of groups. */
#define GROUP 8u

/* The largest size of an offset, in bytes: see size_of_offsets. */
#define OFFSET_MAX sizeof(uint32_t)

/* Bytes of the word with which a delta backtrace begins. */
#define HEAD_BYTES 3u

/* The bits of that word above the base site's number: the size of the offsets. */
#define SIZE_SHIFT 22

_Static_assert(LEAKWRAP_SITE_BITS <= SIZE_SHIFT, "a head has room for a number");

/* Bytes of an offset of a flat delta. */
#define FLAT_OFFSET sizeof(uint16_t)

/* The most bytes of a delta backtrace with FRAMES frames.  Groups have bitmaps. */
#define ENCODED_MAX(frames) (HEAD_BYTES + (OFFSET_MAX + 1) * (size_t)(frames) + 2)

/* The sizes of offsets: all offsets of a backtrace have one size.  FLAT: two bytes, see
 * leakwrap_delta_encode_flat. */
enum { ONE_BYTE, TWO_BYTES, FOUR_BYTES, FLAT };

static uint8_t *write_head(uint8_t *to, uint32_t base_site, unsigned size)
{
	const uint32_t head = base_site | size << SIZE_SHIFT;

	for (unsigned i = 0; i < HEAD_BYTES; i++)
		*to++ = (uint8_t)(head >> 8 * i);
	return to;
}

static inline uint32_t read_head(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

/* Returns the address in the same 4 GiB as PC that is OFFSET behind it. */
static inline uintptr_t add_to_low_half(uintptr_t pc, uint32_t offset)
{
	return (pc & ~(uintptr_t)UINT32_MAX) | (uint32_t)(pc + offset);
}

/* Returns how many of the DEPTH frames PCS are left without the outer frames that BASE_PCS has,
 * too. */
static unsigned without_equal_outer(const uintptr_t *pcs, const uintptr_t *base_pcs, unsigned depth)
{
	while (depth > 0 && pcs[depth - 1] == base_pcs[depth - 1])
		depth--;
	return depth;
}

/* Returns the size that the DEPTH offsets between PCS and BASE_PCS need, or -1 if high halves
 * differ. */
static int size_of_offsets(const uintptr_t *pcs, const uintptr_t *base_pcs, unsigned depth)
{
	uint32_t bits = 0; /* all that differ from the sign */
	uintptr_t high = 0;

	for (unsigned i = 0; i < depth; i++) {
		const uint32_t offset = (uint32_t)pcs[i] - (uint32_t)base_pcs[i];

		high |= pcs[i] ^ base_pcs[i];
		bits |= offset ^ (offset >> 31 ? UINT32_MAX : 0);
	}
	if ((high & ~(uintptr_t)UINT32_MAX) != 0)
		return -1;
	return bits <= INT8_MAX ? ONE_BYTE : bits <= INT16_MAX ? TWO_BYTES : FOUR_BYTES;
}

/* Writes OFFSET at TO.  Returns the end of the written bytes. */
static inline uint8_t *write_offset(uint8_t *to, uint32_t offset, int size)
{
	const uint16_t two = (uint16_t)offset;

	if (size == ONE_BYTE) {
		*to = (uint8_t)offset;
		return to + 1;
	}
	if (size == TWO_BYTES) {
		memcpy(to, &two, sizeof(two));
		return to + sizeof(two);
	}
	memcpy(to, &offset, sizeof(offset));
	return to + sizeof(offset);
}

/* Reads the offset at AT. */
static inline uint32_t read_offset(const uint8_t *at, unsigned size)
{
	uint32_t four;
	int16_t two;

	if (size == ONE_BYTE)
		return (uint32_t)(int8_t)*at;
	if (size == TWO_BYTES) {
		memcpy(&two, at, sizeof(two));
		return (uint32_t)two;
	}
	memcpy(&four, at, sizeof(four));
	return four;
}

/* Writes at TO the bitmap and the offsets of the COUNT frames PCS of a group, against BASE_PCS.
 * Returns the end of the written bytes.  Returns TO if no frame differs. */
static inline __attribute__((always_inline)) uint8_t *write_group(uint8_t *to, const uintptr_t *pcs,
                                                                  const uintptr_t *base_pcs,
                                                                  unsigned count, const int size)
{
	uint8_t *end = to + 1;
	unsigned bitmap = 0;

	for (unsigned i = 0; i < count; i++) {
		const uintptr_t offset = pcs[i] - base_pcs[i];

		if (offset == 0)
			continue;
		bitmap |= 1u << i;
		end = write_offset(end, (uint32_t)offset, size);
	}
	*to = (uint8_t)bitmap;
	return bitmap != 0 ? end : to;
}

/* Writes at TO the bitmaps and the offsets of TRACE, against BASE_PCS.  From the frame DIFFERENT
 * on, they are equal.  Returns the end of the written bytes. */
static inline __attribute__((always_inline)) uint8_t *
write_offsets(uint8_t *to, const struct leakwrap_trace *trace, const uintptr_t *base_pcs,
              unsigned different, const int size)
{
	const unsigned depth = trace->depth;
	uint8_t *group_bitmap = to;

	for (unsigned i = 0; i < depth; i += GROUP) {
		uint8_t *group;

		if (i % (GROUP * GROUP) == 0) {
			group_bitmap = to++;
			*group_bitmap = 0;
		}
		if (i >= different)
			continue;
		group = to;
		to = write_group(group, trace->pcs + i, base_pcs + i,
		                 different - i < GROUP ? different - i : GROUP, size);
		if (to != group)
			*group_bitmap |= (uint8_t)(1u << i / GROUP % GROUP);
	}
	return to;
}

leakwrap_pool_offset leakwrap_delta_encode(const struct leakwrap_trace *trace, uint32_t base_site,
                                           const uintptr_t *base_pcs, bool has_lock)
{
	const unsigned depth = trace->depth;
	const unsigned different = without_equal_outer(trace->pcs, base_pcs, depth);
	const int size = size_of_offsets(trace->pcs, base_pcs, different);
	uint8_t encoded[ENCODED_MAX(depth)];
	uint8_t *end;

	_Static_assert(ENCODED_MAX(LEAKWRAP_MAX_DEPTH) <= LEAKWRAP_BYTES_MAX,
	               "a chunk holds the longest delta");
#if UINTPTR_MAX > UINT32_MAX
	_Static_assert(LEAKWRAP_BYTE_CHUNKS *
	                               (LEAKWRAP_BYTES_MAX / ENCODED_MAX(LEAKWRAP_MAX_DEPTH)) >
	                       LEAKWRAP_SITE_LIMIT,
	               "the byte pool holds the deltas of all call sites");
#endif
	if (size < 0)
		return 0;
	end = write_head(encoded, base_site, (unsigned)size);
	end = size == ONE_BYTE    ? write_offsets(end, trace, base_pcs, different, ONE_BYTE)
	      : size == TWO_BYTES ? write_offsets(end, trace, base_pcs, different, TWO_BYTES)
	                          : write_offsets(end, trace, base_pcs, different, FOUR_BYTES);
	return has_lock ? leakwrap_byte_pool_add(encoded, (size_t)(end - encoded), false)
	                : leakwrap_byte_pool_try_add(encoded, (size_t)(end - encoded));
}

leakwrap_pool_offset leakwrap_delta_encode_flat(const struct leakwrap_trace *trace,
                                                uint32_t base_site,
                                                const struct leakwrap_base_backtrace *base)
{
	const unsigned depth = trace->depth;
	uint8_t encoded[HEAD_BYTES + FLAT_OFFSET * (size_t)depth];
	uint8_t *end = write_head(encoded, base_site, FLAT);
	uintptr_t bits = 0; /* of all offsets, moved so that those that fit have 16 bits */

	for (unsigned i = 0; i < depth; i++) {
		const uintptr_t offset = trace->pcs[i] - leakwrap_base_backtrace_pc(base, i);

		bits |= offset - (uintptr_t)INT16_MIN;
		end = write_offset(end, (uint32_t)offset, TWO_BYTES);
	}
	return bits <= UINT16_MAX ? leakwrap_byte_pool_try_add(encoded, (size_t)(end - encoded))
	                          : 0;
}

leakwrap_pool_offset leakwrap_delta_encode_base(const struct leakwrap_base_backtrace *base,
                                                bool from_reserve)
{
	uint8_t encoded[HEAD_BYTES + sizeof(base)];
	uint8_t *end = write_head(encoded, LEAKWRAP_SITE_NONE, 0);

	memcpy(end, &base, sizeof(base));
	end += sizeof(base);
	return leakwrap_byte_pool_add(encoded, (size_t)(end - encoded), from_reserve);
}

uint32_t leakwrap_delta_read_site(leakwrap_pool_offset bytes, const uint8_t **offsets,
                                  const struct leakwrap_base_backtrace **base)
{
	const uint8_t *const start = leakwrap_byte_pool_at(bytes);
	const uint32_t base_site = read_head(start) & ((1u << SIZE_SHIFT) - 1);

	*offsets = start;
	if (base_site == LEAKWRAP_SITE_NONE)
		memcpy(base, start + HEAD_BYTES, sizeof(*base));
	return base_site;
}

/* Adds the offsets of SIZE at AT to the frames of a group that its BITMAP names.  PCS: the return
 * addresses of the group.  Returns the end of the offsets. */
static inline __attribute__((always_inline)) const uint8_t *
add_group(const uint8_t *at, unsigned bitmap, uintptr_t *pcs, const unsigned size)
{
	for (; bitmap != 0; bitmap &= bitmap - 1) {
		uintptr_t *const pc = pcs + (unsigned)__builtin_ctz(bitmap);

		*pc = add_to_low_half(*pc, read_offset(at, size));
		at += (size_t)1 << size;
	}
	return at;
}

bool leakwrap_delta_is_flat(const uint8_t *offsets)
{
	return read_head(offsets) >> SIZE_SHIFT == FLAT;
}

void leakwrap_delta_read_flat(const uint8_t *offsets, const struct leakwrap_base_backtrace *base,
                              uintptr_t *pcs)
{
	const uint8_t *at = offsets + HEAD_BYTES;

	for (unsigned i = 0; i < base->depth; i++, at += FLAT_OFFSET)
		pcs[i] = leakwrap_base_backtrace_pc(base, i) +
		         (uintptr_t)(int32_t)read_offset(at, TWO_BYTES);
}

void leakwrap_delta_add_offsets(const uint8_t *offsets, unsigned depth, uintptr_t *pcs)
{
	const unsigned size = read_head(offsets) >> SIZE_SHIFT;

	offsets += HEAD_BYTES;
	for (unsigned first = 0; first < depth; first += GROUP * GROUP) {
		unsigned groups = *offsets++;

		for (; groups != 0; groups &= groups - 1) {
			uintptr_t *const group =
			        pcs + first + (size_t)GROUP * (unsigned)__builtin_ctz(groups);
			const unsigned bitmap = *offsets++;

			offsets = size == ONE_BYTE ? add_group(offsets, bitmap, group, ONE_BYTE)
			          : size == TWO_BYTES
			                  ? add_group(offsets, bitmap, group, TWO_BYTES)
			                  : add_group(offsets, bitmap, group, FOUR_BYTES);
		}
	}
}

/* Returns the end of the delta backtrace of DEPTH frames at START. */
static const uint8_t *end_of_delta(const uint8_t *start, unsigned depth)
{
	const unsigned size = read_head(start) >> SIZE_SHIFT;
	const uint8_t *at = start + HEAD_BYTES;

	if (size == FLAT)
		return at + FLAT_OFFSET * depth;
	for (unsigned first = 0; first < depth; first += GROUP * GROUP)
		for (unsigned groups = *at++; groups != 0; groups &= groups - 1)
			for (unsigned frames = *at++; frames != 0; frames &= frames - 1)
				at += (size_t)1 << size;
	return at;
}

leakwrap_pool_offset leakwrap_delta_copy(leakwrap_pool_offset bytes, unsigned depth)
{
	const uint8_t *start, *end;
	const struct leakwrap_base_backtrace *base;

	if (leakwrap_delta_read_site(bytes, &start, &base) == LEAKWRAP_SITE_NONE)
		end = start + HEAD_BYTES + sizeof(base);
	else
		end = end_of_delta(start, depth);
	return leakwrap_byte_pool_add(start, (size_t)(end - start), false);
}
