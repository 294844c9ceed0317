/* spread.c - see spread.h. */
#include "tools/model/spread.h"

#include <string.h>

/* Returns what AT, the bytes of a call site at the points, gains over the process at its lowest
 * rate in the two spans, and what it gains in all.  A leak gains in both spans.  A cache that fills
 * up gains nothing in the second. */
static int64_t steady_gain(const uint64_t at[POINTS], const int64_t times[POINTS], int64_t *gained)
{
	*gained = (int64_t)(at[POINT_LAST] - at[POINT_FIRST]);
	int64_t first = times[POINT_MIDDLE] - times[POINT_FIRST];
	int64_t second = times[POINT_LAST] - times[POINT_MIDDLE];
	if (first <= 0 || second <= 0)
		return *gained > 0 ? *gained : 0;
	double all = (double)(first + second);
	double early = (double)(int64_t)(at[POINT_MIDDLE] - at[POINT_FIRST]) * all / (double)first;
	double late = (double)(int64_t)(at[POINT_LAST] - at[POINT_MIDDLE]) * all / (double)second;
	double least = early < late ? early : late;
	return least <= 0                       ? 0
	       : least >= (double)INT64_MAX / 2 ? INT64_MAX / 2
	                                        : (int64_t)(least + 0.5);
}

/* Adds BYTES to *SUM, which stops at the limits of its type. */
static void add_gain(int64_t *sum, int64_t bytes)
{
	if (__builtin_add_overflow(*sum, bytes, sum))
		*sum = bytes > 0 ? INT64_MAX : INT64_MIN;
}

/* Makes the numbers of SUM at all points before POINT those at POINT. */
static void begin_at(struct site_sum *sum, enum point point)
{
	for (unsigned earlier = 0; earlier < point; earlier++) {
		sum->at[earlier] = sum->at[point];
		sum->blocks_at[earlier] = sum->blocks_at[point];
		sum->lost_at[earlier] = sum->lost_at[point];
	}
}

/* Makes SUM begin at the point from which on all dumps of its process show the call site.  If that
 * is the last dump, it begins before, with the most that the dump there may have had.  Returns the
 * point. */
static enum point leave_out_unknown(struct site_sum *sum)
{
	const struct merged_process *process = sum->process;
	const enum point before = process->times[POINT_MIDDLE] > 0 ? POINT_MIDDLE : POINT_FIRST;
	bool is_unknown[POINTS];

	for (unsigned point = 0; point < POINTS; point++)
		is_unknown[point] = process->hidden[point].bytes > 0 &&
		                    !((sum->shown_at & ~sum->lacking_at) >> point & 1);
	if (is_unknown[POINT_LAST]) {
		begin_at(sum, POINT_LAST);
		return POINT_LAST;
	}
	if (is_unknown[before]) {
		const struct most_hidden most = process->hidden[before];
		const uint64_t bytes = sum->at[POINT_LAST], blocks = sum->blocks_at[POINT_LAST];
		begin_at(sum, POINT_LAST);
		sum->at[before] = most.bytes < bytes ? most.bytes : bytes;
		sum->blocks_at[before] = most.blocks < blocks ? most.blocks : blocks;
		begin_at(sum, before);
		return before;
	}
	if (is_unknown[POINT_FIRST]) {
		begin_at(sum, POINT_MIDDLE);
		return POINT_MIDDLE;
	}
	return POINT_FIRST;
}

void finish_process(struct site_sum *sum)
{
	const struct merged_process *process = sum->process;
	struct spread *spread = &sum->spread;
	if (!process)
		return;
	uint64_t bytes = sum->at[POINT_LAST];
	int64_t gained, times[POINTS];
	memcpy(times, process->times, sizeof times);
	times[POINT_FIRST] = times[leave_out_unknown(sum)];
	int64_t steady = steady_gain(sum->at, times, &gained);
	if (sum->is_live) {
		if (spread->processes == 0 || bytes < spread->least)
			spread->least = bytes;
		if (spread->processes == 0 || bytes > spread->most) {
			spread->most = bytes;
			spread->most_in = process;
		}
		spread->processes++;
		if (spread->hosts == 0 || sum->last_host != process->host) {
			spread->hosts++;
			sum->last_host = process->host;
		}
	}
	if (process->grows) {
		add_gain(&spread->gained_bytes, gained);
		add_gain(&spread->gained_blocks,
		         (int64_t)(sum->blocks_at[POINT_LAST] - sum->blocks_at[POINT_FIRST]));
		spread->grew_in += gained > 0;
		add_gain(&spread->steady_bytes, steady);
	}
	if (process->grows && process->has_kinds) {
		steady = steady_gain(sum->lost_at, times, &gained);
		if (gained > 0)
			add_gain(&spread->lost_gained_bytes, gained);
		add_gain(&spread->lost_steady_bytes, steady);
	}
}

void start_process(struct site_sum *sum, const struct merged_process *process)
{
	finish_process(sum);
	sum->process = process;
	sum->is_live = false;
	sum->shown_at = sum->lacking_at = 0;
	memset(sum->at, 0, sizeof sum->at);
	memset(sum->lost_at, 0, sizeof sum->lost_at);
	memset(sum->blocks_at, 0, sizeof sum->blocks_at);
}
