/* parsed_dump.c - see parsed_dump.h. */
#include "tools/log/parsed_dump.h"

const char *const stack_kind_names[3] = {"complete", "truncated", "guessed"};

#define COUNT(field)                                   \
	{                                              \
#field, offsetof(struct totals, field) \
	}

const struct count_key total_keys[] = {
        COUNT(live_bytes),       COUNT(live_blocks),     COUNT(call_sites),
        COUNT(untracked_blocks), COUNT(untracked_bytes), COUNT(lost_call_sites),
        COUNT(truncated_blocks), COUNT(guessed_blocks),  COUNT(freed_elsewhere_blocks),
        COUNT(foreign_frees),    COUNT(tracer_bytes),    COUNT(dump_ns),
        COUNT(left_out_blocks),  COUNT(left_out_bytes),  COUNT(inherited_bytes),
        COUNT(inherited_blocks), COUNT(pause_ns),        COUNT(scan_ns),
        COUNT(running_threads),  COUNT(sample_interval), COUNT(depth),
};
_Static_assert(sizeof total_keys / sizeof *total_keys == TOTAL_KEYS, "all counts have a key");

void reset_totals(struct totals *totals)
{
	*totals = (struct totals){.estimate = NO_ESTIMATE, .complete_percent = -1};
	for (size_t i = 0; i < TOTAL_KEYS; i++)
		*(int64_t *)((char *)totals + total_keys[i].offset) = -1;
}
