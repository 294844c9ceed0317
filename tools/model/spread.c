/* spread.c - see spread.h. */
#include "tools/model/spread.h"

#include <string.h>

#include "tools/base/numbers.h"

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

/* Returns how many parts of the call site the dump at POINT may hide: another dump shows them, or
 * frames of them are lost. */
static unsigned hidden_parts(const struct site_sum *sum, enum point point)
{
	unsigned most = 0;
	for (unsigned i = 0; i < POINTS; i++)
		most = sum->parts[i] > most ? sum->parts[i] : most;
	return sum->process->hidden[point].bytes > 0
	               ? most - sum->parts[point] + sum->lacking[point]
	               : 0;
}

/* Makes SUM begin at the point from which on all dumps of its process show the call site.  If that
 * is the last dump, it begins before, with the most that the dump there may have had.  Returns the
 * point. */
static enum point leave_out_unknown(struct site_sum *sum)
{
	const struct merged_process *process = sum->process;
	const enum point before = process->times[POINT_MIDDLE] > 0 ? POINT_MIDDLE : POINT_FIRST;
	const unsigned parts = hidden_parts(sum, before);

	if (hidden_parts(sum, POINT_LAST) > 0) {
		begin_at(sum, POINT_LAST);
		return POINT_LAST;
	}
	if (parts > 0) {
		const struct most_hidden most = most_hidden_at(process->hidden[before], parts);
		uint64_t bytes = sum->at[before], blocks = sum->blocks_at[before];
		add_up(&bytes, most.bytes);
		add_up(&blocks, most.blocks);
		begin_at(sum, POINT_LAST);
		if (bytes < sum->at[POINT_LAST])
			sum->at[before] = bytes;
		if (blocks < sum->blocks_at[POINT_LAST])
			sum->blocks_at[before] = blocks;
		begin_at(sum, before);
		return before;
	}
	if (hidden_parts(sum, POINT_FIRST) > 0) {
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
	memset(sum->parts, 0, sizeof sum->parts);
	memset(sum->lacking, 0, sizeof sum->lacking);
	memset(sum->at, 0, sizeof sum->at);
	memset(sum->lost_at, 0, sizeof sum->lost_at);
	memset(sum->blocks_at, 0, sizeof sum->blocks_at);
}
