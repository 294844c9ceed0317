/* dump_kinds.c - see dump_kinds.h.  The scan takes the lock itself: before it, lines are written,
 * and the program's function for that may wait for other code. */
#include "report/dump_kinds.h"

#include "report/kinds_writer.h"
#include "wrap/port/port.h"

/* Returns a request of a caller that stands at STANDING. */
static struct leakwrap_kinds_request request_at(const struct leakwrap_standing *standing)
{
	return (struct leakwrap_kinds_request){
	        .scan = {.own = *standing, .is_heap_known = true},
	        .process = leakwrap_process_id(),
	        .is_parked = true,
	};
}

static bool write_kinds(struct leakwrap_writer *writer, int fd, unsigned number, bool earlier_lost,
                        const struct leakwrap_reason *reason,
                        const struct leakwrap_standing *standing)
{
	struct leakwrap_reason with_kinds = *reason;
	const struct leakwrap_kinds_request request = request_at(standing);

	with_kinds.kinds = &request;
	return leakwrap_dump_write(writer, fd, number, earlier_lost, &with_kinds);
}

static bool count_kinds(struct leakwrap_kind_counters *counters,
                        const struct leakwrap_standing *standing)
{
	const struct leakwrap_kinds_request request = request_at(standing);

	return leakwrap_kinds_count(&request, counters);
}

const struct leakwrap_bare_kinds leakwrap_bare_kinds = {write_kinds, count_kinds};
