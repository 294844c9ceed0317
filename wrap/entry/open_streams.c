/* open_streams.c - remembers the streams of open_memstream and open_wmemstream until they are
 * closed.
 *
 * Owns a small lock-free table.  Called by the wrappers of these functions and of fclose. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/base/loss.h"
#include "wrap/entry/open_streams.h"
#include "wrap/port/port.h"

/* The most streams open at once.  Buffers of further streams stay unrecorded, and count as
 * untracked. */
#define SLOTS 1024

/* Of the addresses a slot has the complements.  The addresses themselves would lead a search for
 * lost memory to a stream that the program has lost. */
static LEAKWRAP_TABLE struct slot {
	_Atomic uintptr_t stream; /* FREE, or BUSY: being filled or read */
	uintptr_t buffer, size;   /* of struct leakwrap_memstream */
	size_t unit;
} slots[SLOTS];

/* The number of slots that were ever filled.  fclose of other streams searches only these. */
static _Atomic unsigned slots_used;

/* No stream has such a complement. */
#define FREE ((uintptr_t)0)
#define BUSY ((uintptr_t)1)

static uintptr_t complement(const void *address)
{
	return ~(uintptr_t)address;
}

static void fill(struct slot *slot, const struct leakwrap_memstream *arguments)
{
	slot->buffer = complement(arguments->buffer);
	slot->size = complement(arguments->size);
	slot->unit = arguments->unit;
}

static struct leakwrap_memstream read_slot(const struct slot *slot)
{
	return (struct leakwrap_memstream){(void **)~slot->buffer, (size_t *)~slot->size,
	                                   slot->unit};
}

void leakwrap_memstream_add(FILE *stream, struct leakwrap_memstream arguments)
{
	if (!stream)
		return;

	/* Drop an old stream of the same address, which code outside the wrap has closed. */
	leakwrap_memstream_take(stream);

	for (unsigned i = 0; i < SLOTS; i++) {
		uintptr_t expected = FREE;

		if (!atomic_compare_exchange_strong(&slots[i].stream, &expected, BUSY))
			continue;
		fill(&slots[i], &arguments);
		atomic_store(&slots[i].stream, complement(stream));

		unsigned used = atomic_load(&slots_used);
		while (used <= i && !atomic_compare_exchange_weak(&slots_used, &used, i + 1))
			;
		return;
	}
	leakwrap_count(&leakwrap_loss.untracked_blocks, 1);
}

/* Returns whether STREAM is still the memory stream that was opened.  If code outside the wrap
 * closed it, another stream may have its address.  A memory stream has no descriptor, and its
 * pointers can be read. */
static bool is_still_open(FILE *stream, const struct leakwrap_memstream *arguments)
{
	int saved_errno = errno;
	int descriptor = fileno(stream);

	errno = saved_errno;
	return descriptor < 0 && leakwrap_readable((uintptr_t)arguments->buffer) &&
	       leakwrap_readable((uintptr_t)arguments->size);
}

struct leakwrap_memstream leakwrap_memstream_take(FILE *stream)
{
	unsigned used = atomic_load(&slots_used);

	for (unsigned i = 0; i < used; i++) {
		uintptr_t expected = complement(stream);

		if (!atomic_compare_exchange_strong(&slots[i].stream, &expected, BUSY))
			continue;
		struct leakwrap_memstream arguments = read_slot(&slots[i]);
		atomic_store(&slots[i].stream, FREE);
		if (is_still_open(stream, &arguments))
			return arguments;
		break;
	}
	return (struct leakwrap_memstream){0};
}
