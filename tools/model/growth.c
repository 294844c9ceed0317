/* growth.c - what grows over the dumps of a process, see compare.h. */
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
#include "tools/model/compare.h"
#include "tools/model/kinds.h"
#include "tools/model/totals.h"

#include <stdlib.h>
#include <string.h>

/* The dumps of one process in order. */
struct series {
	const struct dump **dumps;
	size_t count, room;
};

/* The dumps at which the spans of a series end, and their times.  A time is in seconds, or counts
 * dumps if the clock does not help.  There is one entry more than spans. */
struct spans {
	size_t dumps[SPANS_MAX + 1];
	int64_t times[SPANS_MAX + 1];
	unsigned count;
};

/* How many call sites with one stack the dumps at the ends of the spans show. */
struct shown {
	unsigned parts[SPANS_MAX + 1];
};

/* What a series is about: each stack, or each group of stacks.  Subjects are numbers from 0. */
struct subjects {
	size_t *of_stack;    /* the subject, by the number of a stack */
	struct shown *shown; /* by the number of a stack */
	const char **names;  /* by subject, or NULL: each stack is a subject */
	size_t count;
};

static int compare_sequence(const void *left, const void *right)
{
	const struct dump *a = *(const struct dump *const *)left,
	                  *b = *(const struct dump *const *)right;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Returns the time of dump INDEX of SERIES.  TIMED: in seconds after the first dump, otherwise in
 * dumps after it.  The exit dump comes between two intervals, and gets the time of the dump before
 * it. */
static int64_t time_of(const struct series *series, size_t index, bool timed)
{
	const struct dump *dump = series->dumps[index];
	if (timed)
		return seconds_between(series->dumps[0], dump);
	bool at_exit = dump->reason && strcmp(dump->reason, "exit") == 0;
	return (int64_t)(at_exit && index > 1 ? index - 1 : index);
}

/* Cuts SERIES into spans of about the same duration.  No span is shorter than half of that, so that
 * dumps close together are no span. */
static struct spans cut_series(const struct series *series)
{
	const struct dump_list dumps = {series->dumps, series->count};
	bool timed = is_timed(&dumps, SPANS_MAX);
	size_t last = series->count - 1;
	int64_t duration = time_of(series, last, timed);
	struct spans spans = {0};

	/* Span n should end at n/SPANS_MAX of the duration.  To stay in integers, that time and
	 * those that are compared with it are multiplied by SPANS_MAX.  No span is shorter than
	 * half a share, which is 1/SPANS_MAX of the duration. */
	const int64_t halves = INT64_C(2) * SPANS_MAX;
	const int64_t least_length = (duration + halves - 1) / halves;
	for (size_t i = 1; i < last && spans.count + 1 < SPANS_MAX; i++) {
		int64_t ideal_end_scaled = duration * (int64_t)(spans.count + 1);
		int64_t time = time_of(series, i, timed), next = time_of(series, i + 1, timed);
		/* Goes on if the next dump is nearer to the ideal end. */
		if (llabs(next * SPANS_MAX - ideal_end_scaled) <
		    llabs(time * SPANS_MAX - ideal_end_scaled))
			continue;
		if (time - spans.times[spans.count] < least_length ||
		    duration - time < least_length)
			continue;
		spans.count++;
		spans.dumps[spans.count] = i;
		spans.times[spans.count] = time;
	}
	spans.count++;
	spans.dumps[spans.count] = last;
	spans.times[spans.count] = duration;
	return spans;
}

/* What the dumps at the ends of the spans of a series do not show. */
struct gaps {
	unsigned ends; /* bits: those that may have other call sites than they show */
	struct most_hidden most_hidden[SPANS_MAX + 1];
	unsigned spans;
	bool has_kinds; /* all tell their kinds */
};

/* Returns the gaps of SERIES, and notes in SUBJECTS what the ends show of each stack. */
static struct gaps find_gaps(const struct series *series, const struct spans *spans,
                             const struct subjects *subjects, struct growths *growths)
{
	struct gaps gaps = {.has_kinds = true, .spans = spans->count};
	for (unsigned end = 0; end <= spans->count; end++) {
		const struct dump *dump = series->dumps[spans->dumps[end]];
		gaps.most_hidden[end] = find_most_hidden(dump);
		gaps.ends |= (gaps.most_hidden[end].bytes > 0 ? 1u : 0) << end;
		gaps.has_kinds &= dump->totals.reach.is_known;
		growths->damaged += dump->damage != NULL;
		for (size_t i = 0; i < dump->site_count; i++)
			if (!dump->sites[i].lacks_frames)
				subjects->shown[dump->sites[i].stack->number].parts[end]++;
	}
	return gaps;
}

/* Returns how many call sites the dump at END may hide of a stack that is SHOWN so: another dump
 * shows them. */
static unsigned hidden_parts(const struct gaps *gaps, const struct shown *shown, unsigned end)
{
	unsigned most = 0;
	for (unsigned i = 0; i <= gaps->spans; i++)
		most = shown->parts[i] > most ? shown->parts[i] : most;
	return gaps->ends >> end & 1 ? most - shown->parts[end] : 0;
}

/* Returns the end of the spans at which the comparison of a stack begins, of which SHOWN says where
 * it is shown.  From that end on all dumps show all of it.  If only the last dump does, the dump
 * before the last counts, too.  In a group, all ends must show the stack.  Returns -1 if the stack
 * cannot be compared. */
static int first_compared(const struct gaps *gaps, const struct subjects *subjects,
                          const struct shown *shown)
{
	int first = 0;
	for (unsigned end = 0; end <= gaps->spans; end++)
		if (hidden_parts(gaps, shown, end) > 0)
			first = (int)end + 1;
	if (subjects->names)
		return first == 0 ? 0 : -1;
	if (first == (int)gaps->spans)
		return first - 1;
	return first < (int)gaps->spans ? first : -1;
}

/* Returns the growth of the subject of STACK from the end FIRST of the spans on.  If there is none,
 * it becomes the last of GROWTHS, and ENTRIES has 1 + its index. */
static struct growth *growth_of_stack(const struct series *series, const struct spans *spans,
                                      const struct subjects *subjects, size_t *entries,
                                      struct growths *growths, const struct stack *stack,
                                      unsigned first)
{
	const size_t subject = subjects->of_stack[stack->number];
	size_t *at = &entries[subject];
	if (!*at) {
		GROW(growths->all, growths->room, growths->count + 1);
		*at = ++growths->count;
		growths->all[*at - 1] = (struct growth){
		        .stack = subjects->names ? NULL : stack,
		        .name = subjects->names ? subjects->names[subject] : NULL,
		        .first_dump = series->dumps[spans->dumps[first]],
		        .last_dump = series->dumps[series->count - 1],
		        .process_start = series->dumps[0],
		        .spans = spans->count - first,
		        .bytes_error = -1,
		        .subject = subject,
		};
	}
	return &growths->all[*at - 1];
}

/* Adds SITE, of the dump at END of the spans, to GROWTH, which begins at the end FIRST. */
static void add_to_growth(struct growth *growth, const struct site *site, unsigned first,
                          unsigned end)
{
	growth->live.at[end - first] += (int64_t)site->bytes;
	growth->lost.at[end - first] += (int64_t)lost_bytes(&site->reach);
	if (end == first || end == first + growth->spans)
		add_error(&growth->bytes_error, site->estimate.live_bytes_error);
	if (end == first) {
		growth->first_bytes += site->bytes;
		growth->first_blocks += site->blocks;
		add_reach(&growth->first_reach, &site->reach);
	} else if (end == first + growth->spans) {
		growth->last_bytes += site->bytes;
		growth->last_blocks += site->blocks;
		add_reach(&growth->last_reach, &site->reach);
	}
}

/* Counts the stacks of which SERIES shows too little to compare them, and forgets where all are
 * shown. */
static void count_uncompared(const struct series *series, const struct spans *spans,
                             const struct subjects *subjects, const struct gaps *gaps,
                             struct growths *growths)
{
	for (unsigned end = 0; end <= spans->count; end++) {
		const struct dump *dump = series->dumps[spans->dumps[end]];
		for (size_t i = 0; i < dump->site_count; i++) {
			struct shown *shown = &subjects->shown[dump->sites[i].stack->number];
			growths->uncompared += first_compared(gaps, subjects, shown) < 0;
			*shown = (struct shown){0};
		}
	}
}

/* Makes GROWTH begin with the most that the dump there may have if it hides PARTS call sites. */
static void add_hidden(struct growth *growth, struct most_hidden most, unsigned parts)
{
	most = most_hidden_at(most, parts);
	growth->is_least = true;
	growth->has_kinds = false;
	add_up(&growth->first_bytes, most.bytes);
	add_up(&growth->first_blocks, most.blocks);
	growth->live.at[0] = (int64_t)growth->first_bytes;
}

/* Adds up each subject at the ends of the spans.  ENTRIES has, by subject, 1 + its index in
 * GROWTHS. */
static void sum_spans(const struct series *series, const struct spans *spans,
                      const struct subjects *subjects, size_t *entries, struct growths *growths)
{
	const struct gaps gaps = find_gaps(series, spans, subjects, growths);
	const size_t start = growths->count;
	for (unsigned end = 0; end <= spans->count; end++) {
		const struct dump *dump = series->dumps[spans->dumps[end]];
		for (size_t i = 0; i < dump->site_count; i++) {
			const struct site *site = &dump->sites[i];
			const struct shown *shown = &subjects->shown[site->stack->number];
			const int first = first_compared(&gaps, subjects, shown);
			if (site->lacks_frames || first < 0 || end < (unsigned)first)
				continue;
			struct growth *growth =
			        growth_of_stack(series, spans, subjects, entries, growths,
			                        site->stack, (unsigned)first);
			add_to_growth(growth, site, (unsigned)first, end);
			growth->has_kinds = gaps.has_kinds;
			growth->hidden_parts = hidden_parts(&gaps, shown, (unsigned)first);
		}
	}
	for (size_t i = start; i < growths->count; i++) {
		struct growth *growth = &growths->all[i];
		if (growth->hidden_parts > 0)
			add_hidden(growth, gaps.most_hidden[gaps.spans - growth->spans],
			           growth->hidden_parts);
	}
	count_uncompared(series, spans, subjects, &gaps, growths);
}

/* Returns true if CURVE fits one rate.  A dump's true time is up to a second later than it says.
 * If times are in dumps, the intervals are not known, and an error of one dump is allowed. */
static bool is_linear(const struct curve *curve, const struct spans *spans)
{
	double duration = (double)spans->times[spans->count];
	double gain = (double)(curve->at[spans->count] - curve->at[0]);
	for (unsigned end = 1; gain > 0 && end < spans->count; end++) {
		double gained = (double)(curve->at[end] - curve->at[0]);
		double error = gained / gain * duration - (double)spans->times[end];
		if (error <= -1 || error >= 1)
			return false;
	}
	return gain > 0;
}

/* Returns what CURVE would gain over the series at its lowest rate in any span. */
static int64_t steady_bytes(const struct curve *curve, const struct spans *spans)
{
	double duration = (double)spans->times[spans->count], least = 0;
	if (is_linear(curve, spans))
		return curve->at[spans->count] - curve->at[0];
	for (unsigned span = 0; span < spans->count; span++) {
		double gain = (double)(curve->at[span + 1] - curve->at[span]);
		double steady =
		        gain * duration / (double)(spans->times[span + 1] - spans->times[span]);
		least = span == 0 || steady < least ? steady : least;
	}
	if (least >= (double)INT64_MAX)
		return INT64_MAX;
	return least > 0 ? (int64_t)(least + 0.5) : 0;
}

int64_t lost_growth(const struct growth *growth)
{
	int64_t gain = growth->lost.at[growth->spans] - growth->lost.at[0];
	return growth->has_kinds && gain > 0 ? gain : 0;
}

/* Returns the last COUNT of SPANS. */
static struct spans last_spans(const struct spans *spans, unsigned count)
{
	const unsigned first = spans->count - count;
	struct spans last = {.count = count};
	for (unsigned end = 0; end <= count; end++) {
		last.dumps[end] = spans->dumps[first + end];
		last.times[end] = spans->times[first + end] - spans->times[first];
	}
	return last;
}

/* Adds each subject of SERIES that grew.  ENTRIES is all 0 before and after. */
static void grow_series(const struct series *series, const struct subjects *subjects,
                        size_t *entries, struct growths *growths)
{
	const struct spans all_spans = cut_series(series);
	size_t start = growths->count, kept = start;

	sum_spans(series, &all_spans, subjects, entries, growths);
	for (size_t i = start; i < growths->count; i++) {
		struct growth growth = growths->all[i];
		const struct spans spans = last_spans(&all_spans, growth.spans);
		entries[growth.subject] = 0;
		if (growth.is_least && growth.first_blocks > growth.last_blocks)
			growth.first_blocks = growth.last_blocks;
		growth.live.steady = steady_bytes(&growth.live, &spans);
		growth.first_reach.is_known = growth.last_reach.is_known = growth.has_kinds;
		if (growth.has_kinds)
			growth.lost.steady = steady_bytes(&growth.lost, &spans);
		growth.may_be_chance = is_chance((int64_t)(growth.last_bytes - growth.first_bytes),
		                                 lost_growth(&growth), growth.bytes_error);
		if (growth.last_bytes > growth.first_bytes || lost_growth(&growth) > 0)
			growths->all[kept++] = growth;
		else
			growths->uncompared += growth.is_least;
	}
	growths->count = kept;
}

static int compare_growth(const void *left, const void *right)
{
	const struct growth *a = left, *b = right;
	const int64_t ranks[][2] = {
	        {!a->may_be_chance, !b->may_be_chance},
	        {a->lost.steady, b->lost.steady},
	        {lost_growth(a) > 0, lost_growth(b) > 0},
	        {a->live.steady, b->live.steady},
	        {lost_growth(a), lost_growth(b)},
	        {(int64_t)(a->last_bytes - a->first_bytes),
	         (int64_t)(b->last_bytes - b->first_bytes)},
	};
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
		if (ranks[i][0] != ranks[i][1])
			return ranks[i][0] > ranks[i][1] ? -1 : 1;
	if (a->name && b->name)
		return strcmp(a->name, b->name);
	return a->stack->number < b->stack->number ? -1 : a->stack->number > b->stack->number;
}

struct name_entry {
	const char *name;
	size_t subject;
};

static bool same_name(const void *key, const void *entry)
{
	return key == ((const struct name_entry *)entry)->name;
}

/* Numbers the stacks of REPORT, or their groups if BY names a kind. */
static struct subjects number_subjects(struct report *report, enum group_kind by)
{
	struct arena *arena = &report->arena;
	struct subjects subjects = {0};
	struct table table = {0};

	subjects.of_stack = arena_alloc(arena, report->stack_count * sizeof *subjects.of_stack);
	subjects.shown = arena_alloc(arena, report->stack_count * sizeof *subjects.shown);
	if (by != GROUP_NONE)
		subjects.names = arena_alloc(arena, report->stack_count * sizeof *subjects.names);
	for (size_t i = 0; i < report->stack_count; i++) {
		if (by == GROUP_NONE) {
			subjects.of_stack[i] = subjects.count++;
			continue;
		}
		const char *name = group_of_stack(report->stacks[i], by);
		uint64_t hash = hash_word(0, (uintptr_t)name);
		struct name_entry *entry = table_find(&table, hash, name, same_name);
		if (!entry) {
			entry = arena_alloc(arena, sizeof *entry);
			*entry = (struct name_entry){name, subjects.count};
			table_add(&table, hash, entry);
			subjects.names[subjects.count++] = name;
		}
		subjects.of_stack[i] = entry->subject;
	}
	table_free(&table);
	return subjects;
}

struct growths find_growth(struct report *report, enum group_kind by)
{
	struct growths growths = {.by = by};
	struct subjects subjects = number_subjects(report, by);
	struct series *series = arena_alloc(&report->arena, report->process_count * sizeof *series);
	size_t *entries = arena_alloc(&report->arena, subjects.count * sizeof *entries);

	for (size_t i = 0; i < report->dump_count; i++) {
		struct series *own = &series[report->dumps[i]->process];
		GROW(own->dumps, own->room, own->count + 1);
		own->dumps[own->count++] = report->dumps[i];
	}
	for (size_t i = 0; i < report->process_count; i++) {
		if (series[i].count > 1) {
			qsort(series[i].dumps, series[i].count, sizeof *series[i].dumps,
			      compare_sequence);
			grow_series(&series[i], &subjects, entries, &growths);
			growths.series++;
		}
		free(series[i].dumps);
	}
	if (growths.count)
		qsort(growths.all, growths.count, sizeof *growths.all, compare_growth);
	return growths;
}
