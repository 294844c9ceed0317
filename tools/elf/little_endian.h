/* little_endian.h - reads the words of code and tables of little-endian machines. */
#ifndef TOOLS_ELF_LITTLE_ENDIAN_H
#define TOOLS_ELF_LITTLE_ENDIAN_H

#include <stdint.h>

/* Return the 4 or 2 bytes at BYTES, which need no alignment, as a number. */
static inline uint32_t word_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static inline uint32_t half_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

/* Returns the lowest BITS of VALUE as a signed number. */
static inline int64_t sign_extend(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

#endif
