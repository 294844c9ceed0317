/* site_record.h - a call site as the table keeps it (sites.h), for those that make up the table: sites.c and recall.c. */
#ifndef LEAKWRAP_SITE_RECORD_H
#define LEAKWRAP_SITE_RECORD_H

#include <stdatomic.h>
#include <stdint.h>

#include "common.h"
#include "kept.h"
#include "live.h"

/* A call site: how far its return addresses are from those of LIKE (offsets.h), or NULL where they are the same.  Immutable once
 * published. */
struct leakwrap_site {
	const struct leakwrap_kept *like;
	const uint8_t *offsets;
};

/* All by number: so many in each chunk. */
#define LEAKWRAP_SITE_CHUNK_BITS 8
#define LEAKWRAP_SITE_CHUNK      (1u << LEAKWRAP_SITE_CHUNK_BITS)

struct leakwrap_site_chunk {
	struct leakwrap_site site[LEAKWRAP_SITE_CHUNK];
	uint32_t choice[LEAKWRAP_SITE_CHUNK];       /* by their backtraces (sites.c) */
	_Atomic uint8_t forms[LEAKWRAP_SITE_CHUNK]; /* how many the stacks of each have had */
};

extern LEAKWRAP_HIDDEN struct leakwrap_site_chunk
        *_Atomic leakwrap_site_chunks[LEAKWRAP_SITE_LIMIT / LEAKWRAP_SITE_CHUNK];

/* The chunk of the call site NUMBER.  Signal-safe. */
LEAKWRAP_INLINE struct leakwrap_site_chunk *leakwrap_site_chunk(uint32_t number)
{
	return atomic_load_explicit(&leakwrap_site_chunks[number >> LEAKWRAP_SITE_CHUNK_BITS],
	                            memory_order_acquire);
}

/* The call site NUMBER: below the limit, or found in a table.  Signal-safe. */
LEAKWRAP_INLINE const struct leakwrap_site *leakwrap_site_numbered(uint32_t number)
{
	return &leakwrap_site_chunk(number)->site[number % LEAKWRAP_SITE_CHUNK];
}

#endif
