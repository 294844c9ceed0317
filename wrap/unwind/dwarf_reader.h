/* dwarf_reader.h - reads the data formats of DWARF within bounds.
 *
 * All tables are read through a cursor.  It stops at the end of its range, whatever the tables
 * contain.  All functions may run in signal handlers.  They take no lock and allocate nothing.
 */
#ifndef LEAKWRAP_DWARF_READER_H
#define LEAKWRAP_DWARF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A position in a table. */
struct leakwrap_cursor {
	const uint8_t *at, *end;
	/* A read went past the end, or met an unknown encoding.  All later reads yield 0. */
	bool has_failed;
};

/* Marks C as failed.  Returns 0. */
static inline uint64_t leakwrap_cursor_fail(struct leakwrap_cursor *c)
{
	c->has_failed = true;
	c->at = c->end;
	return 0;
}

/* Reads an unsigned integer of SIZE bytes: 1, 2, 4 or 8. */
static inline uint64_t leakwrap_read_uint(struct leakwrap_cursor *c, unsigned size)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	const uint8_t *at = c->at;

	if (c->has_failed || !at || (size_t)(c->end - at) < size)
		return leakwrap_cursor_fail(c);
	c->at += size;
	switch (size) {
	case 1:
		memcpy(&u8, at, sizeof(u8));
		return u8;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

/* Reads an unsigned number in LEB128 (DWARF 5, section 7.6). */
static inline uint64_t leakwrap_read_uleb128(struct leakwrap_cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = leakwrap_read_uint(c, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return leakwrap_cursor_fail(c);
}

/* Reads a signed number in LEB128. */
static inline int64_t leakwrap_read_sleb128(struct leakwrap_cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = leakwrap_read_uint(c, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift + 7 < 64)
				value |= ~(uint64_t)0 << (shift + 7);
			return (int64_t)value;
		}
	}
	return (int64_t)leakwrap_cursor_fail(c);
}

/* Skips SIZE bytes. */
static inline void leakwrap_skip(struct leakwrap_cursor *c, uint64_t size)
{
	if (size > (size_t)(c->end - c->at))
		leakwrap_cursor_fail(c);
	else
		c->at += size;
}

/* LSB 5.0 core, section 10.5.1, "DWARF Exception Header Encoding". */
enum {
	DW_EH_PE_absptr = 0x00,
	DW_EH_PE_uleb128 = 0x01,
	DW_EH_PE_udata2 = 0x02,
	DW_EH_PE_udata4 = 0x03,
	DW_EH_PE_udata8 = 0x04,
	DW_EH_PE_sleb128 = 0x09,
	DW_EH_PE_sdata2 = 0x0a,
	DW_EH_PE_sdata4 = 0x0b,
	DW_EH_PE_sdata8 = 0x0c,
	DW_EH_PE_format_mask = 0x0f,
	DW_EH_PE_pcrel = 0x10,
	DW_EH_PE_datarel = 0x30,
	DW_EH_PE_omit = 0xff,
};

/* Reads a number in FORMAT, one of DW_EH_PE_absptr to DW_EH_PE_sdata8. */
static inline uintptr_t leakwrap_read_encoded(struct leakwrap_cursor *c, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
		return (uintptr_t)leakwrap_read_uint(c, sizeof(uintptr_t));
	case DW_EH_PE_uleb128:
		return (uintptr_t)leakwrap_read_uleb128(c);
	case DW_EH_PE_udata2:
		return (uintptr_t)leakwrap_read_uint(c, 2);
	case DW_EH_PE_udata4:
		return (uintptr_t)leakwrap_read_uint(c, 4);
	case DW_EH_PE_udata8:
		return (uintptr_t)leakwrap_read_uint(c, 8);
	case DW_EH_PE_sleb128:
		return (uintptr_t)leakwrap_read_sleb128(c);
	case DW_EH_PE_sdata2:
		return (uintptr_t)(int16_t)leakwrap_read_uint(c, 2);
	case DW_EH_PE_sdata4:
		return (uintptr_t)(int32_t)leakwrap_read_uint(c, 4);
	case DW_EH_PE_sdata8:
		return (uintptr_t)(int64_t)leakwrap_read_uint(c, 8);
	default:
		return (uintptr_t)leakwrap_cursor_fail(c);
	}
}

/* Reads a pointer.  DATA is the base of data-relative pointers. */
static inline uintptr_t leakwrap_read_pointer(struct leakwrap_cursor *c, uint8_t encoding,
                                              uintptr_t data)
{
	uintptr_t field = (uintptr_t)c->at;
	uintptr_t value = leakwrap_read_encoded(c, encoding & DW_EH_PE_format_mask);

	switch (encoding & ~DW_EH_PE_format_mask) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return field + value;
	case DW_EH_PE_datarel:
		return data + value;
	default:
		return (uintptr_t)leakwrap_cursor_fail(c);
	}
}

#endif
