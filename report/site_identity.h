/* site_identity.h - a number for a call site that is the same in each run of the program. */
#ifndef LEAKWRAP_SITE_IDENTITY_H
#define LEAKWRAP_SITE_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

/* The identity of a call site is a number that is the same in each run of the program, wherever the
 * kernel loads its modules.  It is the 64-bit FNV-1a hash of these bytes, for each frame from the
 * innermost on: the module's build-id, or the last component of its path if it has none; then the
 * address less the module's load bias, as 8 bytes, the lowest first.  A frame without a module
 * gives eight bytes of 0xff. */
#define LEAKWRAP_IDENTITY_START UINT64_C(0xcbf29ce484222325)

/* Returns IDENTITY with SIZE more BYTES. */
static inline uint64_t leakwrap_identity_add(uint64_t identity, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		identity = (identity ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
	return identity;
}

/* Returns IDENTITY with the OFFSET of a frame. */
static inline uint64_t leakwrap_identity_add_offset(uint64_t identity, uint64_t offset)
{
	for (unsigned i = 0; i < 8; i++) {
		const unsigned char byte = (unsigned char)(offset >> 8 * i);

		identity = leakwrap_identity_add(identity, &byte, 1);
	}
	return identity;
}

#endif
