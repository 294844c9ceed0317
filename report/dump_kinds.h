/* dump_kinds.h - writes dumps that tell lost from reachable memory.
 *
 * The other threads are parked, and the process is copied.  They go on while the copy looks for
 * lost memory and writes the dump.  Where the process cannot be copied, and at its exit, they stay
 * parked until lost memory has been found. */
#ifndef LEAKWRAP_DUMP_KINDS_H
#define LEAKWRAP_DUMP_KINDS_H

#include "report/dump_writer.h"
#include "wrap/leakwrap.h"
#include "wrap/reach/park.h"

#ifndef LEAKWRAP_BARE

#include "wrap/port/port.h"

/* Does what leakwrap_dump_write does.  STANDING: where the calling thread stands; the dump has
 * kinds.  NULL: it has none. */
bool leakwrap_dump_write_kinds(struct leakwrap_writer *writer, int fd, unsigned number,
                               bool earlier_lost, const struct leakwrap_reason *reason,
                               const struct leakwrap_standing *standing);

/* Scans the process and fills *COUNTERS with the kinds of all live blocks.  STANDING: where the
 * calling thread stands.  Returns false, and leaves *COUNTERS as it is, if the kinds are not found.
 */
bool leakwrap_dump_count_kinds(struct leakwrap_kind_counters *counters,
                               const struct leakwrap_standing *standing);

/* With IS_ALLOWED lets another thread park this thread, although signals are blocked.  Without it
 * ends that. */
static inline void leakwrap_park_allow(bool is_allowed)
{
	leakwrap_park_signal_allow(is_allowed);
}

/* Fills *STANDING for a signal handler with CONTEXT, or without a CONTEXT for the function that
 * contains this macro. */
#define LEAKWRAP_STAND_AT(standing, context)                  \
	do {                                                  \
		if (context)                                  \
			leakwrap_stand(standing, context, 0); \
		else                                          \
			LEAKWRAP_STAND_HERE(standing);        \
	} while (0)

#else

#include "wrap/leakwrap_bare.h"

/* The functions above, for programs that have leakwrap_bare_kinds (leakwrap_bare.h). */
struct leakwrap_bare_kinds {
	bool (*write)(struct leakwrap_writer *writer, int fd, unsigned number, bool earlier_lost,
	              const struct leakwrap_reason *reason,
	              const struct leakwrap_standing *standing);
	bool (*count)(struct leakwrap_kind_counters *counters,
	              const struct leakwrap_standing *standing);
};

static inline bool leakwrap_dump_write_kinds(struct leakwrap_writer *writer, int fd,
                                             unsigned number, bool earlier_lost,
                                             const struct leakwrap_reason *reason,
                                             const struct leakwrap_standing *standing)
{
	return standing && leakwrap_bare.kinds
	               ? leakwrap_bare.kinds->write(writer, fd, number, earlier_lost, reason,
	                                            standing)
	               : leakwrap_dump_write(writer, fd, number, earlier_lost, reason);
}

static inline bool leakwrap_dump_count_kinds(struct leakwrap_kind_counters *counters,
                                             const struct leakwrap_standing *standing)
{
	return leakwrap_bare.kinds && leakwrap_bare.kinds->count(counters, standing);
}

static inline void leakwrap_park_allow(bool is_allowed)
{
	(void)is_allowed;
}

/* An exception's dump has no kinds, so CONTEXT is not used.  The scan reads the stack that
 * *STANDING is on: no word of it may be left from earlier calls. */
#define LEAKWRAP_STAND_AT(standing, context)                         \
	do {                                                         \
		(void)(context);                                     \
		__builtin_unwind_init();                             \
		*(standing) = (struct leakwrap_standing){            \
		        .sp = (uintptr_t)__builtin_frame_address(0), \
		};                                                   \
	} while (0)

#endif

#endif
