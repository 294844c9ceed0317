/* open_streams.c - remembers the streams of open_memstream and open_wmemstream until they are closed.
 *
 * Owns one small table, free of locks.  Called by the entry points of the same names and by fclose's;
 * like stdio itself not from signal handlers. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>

#include "wrap/base/common.h"
#include "wrap/entry/open_streams.h"
#include "wrap/port/port.h"

/* As many may be open at once; the buffers of others stay unrecorded and count as untracked. */
#define SLOTS 1024

static struct slot {
	_Atomic(FILE *) stream; /* NULL: free; TAKEN: being filled or read */
	struct leakwrap_memstream what;
} slots[SLOTS];

/* No slot at or behind this one was ever filled, so that fclose of an ordinary stream costs nothing. */
static _Atomic unsigned slots_used;

#define TAKEN ((FILE *)(uintptr_t)1)

void leakwrap_memstream_opened(FILE *stream, struct leakwrap_memstream what)
{
	if (!stream)
		return;

	/* A stream of the same address was closed by code outside the wrap. */
	leakwrap_memstream_closing(stream);

	for (unsigned i = 0; i < SLOTS; i++) {
		FILE *expected = NULL;

		if (!atomic_compare_exchange_strong(&slots[i].stream, &expected, TAKEN))
			continue;
		slots[i].what = what;
		atomic_store(&slots[i].stream, stream);

		unsigned used = atomic_load(&slots_used);
		while (used <= i && !atomic_compare_exchange_weak(&slots_used, &used, i + 1))
			;
		return;
	}
	leakwrap_count(&leakwrap_loss.untracked_blocks, 1);
}

/* Is STREAM still the one that was opened, or another that took its address after code outside the wrap
 * closed it?  A stream into memory has no descriptor, and its pointers can be read. */
static int still_open(FILE *stream, const struct leakwrap_memstream *what)
{
	int saved_errno = errno;
	int descriptor = fileno(stream);

	errno = saved_errno;
	return descriptor < 0 && leakwrap_readable((uintptr_t)what->buffer) &&
	       leakwrap_readable((uintptr_t)what->size);
}

struct leakwrap_memstream leakwrap_memstream_closing(FILE *stream)
{
	unsigned used = atomic_load(&slots_used);

	for (unsigned i = 0; i < used; i++) {
		FILE *expected = stream;

		if (!atomic_compare_exchange_strong(&slots[i].stream, &expected, TAKEN))
			continue;
		struct leakwrap_memstream what = slots[i].what;
		atomic_store(&slots[i].stream, NULL);
		if (still_open(stream, &what))
			return what;
		break;
	}
	return (struct leakwrap_memstream){0};
}
