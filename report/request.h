/* request.h - what the tool asks a running process for: the integers that it sends with the dump
 * signal. */
#ifndef LEAKWRAP_REQUEST_H
#define LEAKWRAP_REQUEST_H

#include <stdint.h>

/* The integer that `leakwrap dump` sends with the dump signal, by sigqueue(3).  It marks a person's
 * request, which the program's own handler must not see. */
#define LEAKWRAP_REQUEST       0x6b77656c
#define LEAKWRAP_REQUEST_KINDS 0x6b77656d /* for a dump with kinds */

/* The integer that `leakwrap set` and `leakwrap mark` send with the dump signal, by sigqueue(3):
 * LEAKWRAP_SET in the bits of LEAKWRAP_SET_MASK, and what is asked for.  If RECORD is set,
 * RECORD_ON says whether recording is turned on or off.  If SAMPLE is set, BYTES is the interval
 * (leakwrap_pack_bytes).  MARK, alone, marks the time.  KINDS, alone with BYTES, sets the option
 * kinds= to the value with the number in BYTES (enum leakwrap_kinds_when). */
#define LEAKWRAP_SET           UINT32_C(0x5e000000)
#define LEAKWRAP_SET_MASK      UINT32_C(0xfe000000)
#define LEAKWRAP_SET_KINDS     UINT32_C(0x01000000)
#define LEAKWRAP_SET_RECORD    UINT32_C(0x00800000)
#define LEAKWRAP_SET_RECORD_ON UINT32_C(0x00400000)
#define LEAKWRAP_SET_SAMPLE    UINT32_C(0x00200000)
#define LEAKWRAP_SET_MARK      UINT32_C(0x00100000)
#define LEAKWRAP_SET_BYTES     UINT32_C(0x000fffff)

/* The largest interval of sampling, in bytes, and the values of the option sample= as messages have
 * them. */
#define LEAKWRAP_SAMPLE_MAX    (UINT32_C(1) << 30)
#define LEAKWRAP_SAMPLE_VALUES "BYTES, at most 1G"

/* Which dumps tell lost from reachable memory, besides those that a person asks to. */
enum leakwrap_kinds_when {
	LEAKWRAP_KINDS_NEVER,
	LEAKWRAP_KINDS_EXIT,
	LEAKWRAP_KINDS_ALWAYS, /* also on a signal, by leakwrap_dump(), and by dump_at= */
};

/* The values of the option kinds=, by their numbers, and as messages have them. */
#define LEAKWRAP_KINDS_WORDS  "never", "exit", "always"
#define LEAKWRAP_KINDS_VALUES "never, exit or always"

/* Returns BYTES, below 2^46, in 20 bits: 15 significant bits, and a shift.  Further bits are cut
 * off. */
static inline uint32_t leakwrap_pack_bytes(uint64_t bytes)
{
	uint32_t shift = 0;

	for (; bytes >= 1u << 15; bytes >>= 1)
		shift++;
	return shift << 15 | (uint32_t)bytes;
}

/* Returns the bytes in PACKED. */
static inline uint64_t leakwrap_unpack_bytes(uint32_t packed)
{
	return (uint64_t)(packed & ((1u << 15) - 1)) << (packed >> 15 & 31);
}

#endif
