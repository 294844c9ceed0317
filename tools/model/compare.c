/* compare.c - see compare.h. */
#include "tools/model/compare.h"

#include "tools/model/kinds.h"
#include "tools/model/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- what a call site is known by -------------------------------------------------------------- */

/* Returns true if both dumps have MODULE, in the same build. */
static bool is_in_both(const struct dump *old, const struct dump *new, const struct module *module)
{
	return module->build_id && mapping_of(old, module) && mapping_of(new, module);
}

/* Returns the name of MODULE for a comparison.  The program itself may have another name in another
 * build. */
static const char *module_name(const struct module *module)
{
	return module->main ? "" : module->name;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return text ? hash_bytes(hash, text, strlen(text)) : hash_word(hash, 0);
}

static uint64_t location_hash(const struct dump *old, const struct dump *new,
                              const struct location *at)
{
	uint64_t hash = at->module ? hash_text(1, module_name(at->module)) : 0;
	if (!at->module || is_in_both(old, new, at->module) || !at->frames[0].function)
		return hash_word(hash, at->offset);
	for (unsigned i = 0; i < at->frame_count; i++)
		hash = hash_text(hash, at->frames[i].function);
	return hash;
}

static bool same_place(const struct dump *old, const struct dump *new, const struct location *a,
                       const struct location *b)
{
	if (a == b)
		return true;
	if (!a->module || !b->module || strcmp(module_name(a->module), module_name(b->module)) != 0)
		return false;
	if (is_in_both(old, new, a->module) || is_in_both(old, new, b->module) ||
	    !a->frames[0].function || !b->frames[0].function)
		return a->offset == b->offset && !a->frames[0].function == !b->frames[0].function;
	if (a->frame_count != b->frame_count)
		return false;
	for (unsigned i = 0; i < a->frame_count; i++) {
		const char *left = a->frames[i].function, *right = b->frames[i].function;
		if (left != right && (!left || !right || strcmp(left, right) != 0))
			return false;
	}
	return true;
}

/* -- two dumps --------------------------------------------------------------------------------- */

struct change_key {
	const struct dump *old, *new;
	const struct stack *stack;
};

static bool same_change(const void *key, const void *entry)
{
	const struct change_key *k = key;
	const struct stack *a = k->stack, *b = ((const struct change *)entry)->stack;
	if (a == b)
		return true;
	if (a->depth != b->depth)
		return false;
	for (unsigned i = 0; i < a->depth; i++)
		if (!same_place(k->old, k->new, a->at[i], b->at[i]))
			return false;
	return true;
}

static int64_t gained(const struct change *change)
{
	return (int64_t)(change->new_bytes - change->old_bytes);
}

static int compare_changes(const void *left, const void *right)
{
	const struct change *a = left, *b = right;
	if (a->may_be_chance != b->may_be_chance)
		return a->may_be_chance ? 1 : -1;
	int first = compare_lost_growth(&a->old_reach, &a->new_reach, &b->old_reach, &b->new_reach);
	if (first)
		return first;
	int64_t gain_a = gained(a), gain_b = gained(b);
	if (gain_a != gain_b)
		return gain_a > gain_b ? -1 : 1;
	return a->stack->number < b->stack->number ? -1 : a->stack->number > b->stack->number;
}

static struct change *find_change(struct table *table, struct changes *changes,
                                  struct change_key key, const struct dump *dump)
{
	uint64_t hash = key.stack->depth;
	for (unsigned i = 0; i < key.stack->depth; i++)
		hash = hash_word(hash, location_hash(key.old, key.new, key.stack->at[i]));
	struct change *change = table_find(table, hash, &key, same_change);
	if (!change) {
		change = &changes->all[changes->count++];
		*change = (struct change){.stack = key.stack, .dump = dump, .bytes_error = -1};
		change->old_reach.is_known = key.old->totals.reach.is_known;
		change->new_reach.is_known = key.new->totals.reach.is_known;
		table_add(table, hash, change);
	}
	return change;
}

/* Returns true if what CHANGE shows of live and of lost bytes may be chance. */
static bool may_be_chance(const struct change *change)
{
	const int64_t lost =
	        (int64_t)(lost_bytes(&change->new_reach) - lost_bytes(&change->old_reach));
	return is_chance(gained(change), lost, change->bytes_error);
}

/* Takes what has not changed out of CHANGES, and finds what may be chance. */
static void drop_unchanged(struct changes *changes)
{
	size_t kept = 0;
	for (size_t i = 0; i < changes->count; i++) {
		struct change *change = &changes->all[i];
		change->may_be_chance = may_be_chance(change);
		if (change->old_bytes == change->new_bytes &&
		    change->old_blocks == change->new_blocks &&
		    has_equal_kinds(&change->old_reach, &change->new_reach))
			changes->unchanged++;
		else
			changes->all[kept++] = *change;
	}
	changes->count = kept;
}

struct changes compare_dumps(struct report *report, const struct dump *old, const struct dump *new)
{
	struct changes changes = {.old = old, .new = new, .bytes_error = -1};
	struct table table = {0};

	/* The array never moves, because the table points into it. */
	changes.all = arena_alloc(report->dump_arena,
	                          (old->site_count + new->site_count) * sizeof *changes.all);
	for (size_t i = 0; i < new->site_count; i++) {
		const struct site *site = &new->sites[i];
		struct change_key key = {old, new, site->stack};
		struct change *change = find_change(&table, &changes, key, new);
		change->new_bytes += site->bytes;
		change->new_blocks += site->blocks;
		add_error(&change->bytes_error, site->estimate.live_bytes_error);
		add_reach(&change->new_reach, &site->reach);
	}
	for (size_t i = 0; i < old->site_count; i++) {
		const struct site *site = &old->sites[i];
		struct change_key key = {old, new, site->stack};
		struct change *change = find_change(&table, &changes, key, old);
		change->old_bytes += site->bytes;
		change->old_blocks += site->blocks;
		add_error(&change->bytes_error, site->estimate.live_bytes_error);
		add_reach(&change->old_reach, &site->reach);
	}
	table_free(&table);
	add_error(&changes.bytes_error, old->totals.estimate.live_bytes_error);
	add_error(&changes.bytes_error, new->totals.estimate.live_bytes_error);
	drop_unchanged(&changes);
	if (changes.count)
		qsort(changes.all, changes.count, sizeof *changes.all, compare_changes);
	return changes;
}

bool is_chance(int64_t bytes, int64_t lost, int64_t error)
{
	const double larger = fmax(fabs((double)bytes), fabs((double)lost));
	return larger > 0 && larger <= 2.0 * (double)error;
}

const char *change_name(const struct change *change)
{
	if (change->old_blocks == 0)
		return "appeared";
	if (change->new_blocks == 0)
		return "vanished";
	if (change->new_bytes != change->old_bytes)
		return change->new_bytes > change->old_bytes ? "grew" : "shrank";
	return change->new_blocks == change->old_blocks  ? "kept"
	       : change->new_blocks > change->old_blocks ? "grew"
	                                                 : "shrank";
}

/* -- a series ---------------------------------------------------------------------------------- */

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

/* What a series is about: each stack, or each group of stacks.  Subjects are numbers from 0. */
struct subjects {
	size_t *of_stack;   /* the subject, by the number of a stack */
	const char **names; /* by subject, or NULL: each stack is a subject */
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
		/* Is the next dump nearer to the ideal end? */
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

/* Adds up each subject at the ends of the spans.  ENTRIES has, by subject, 1 + its index in
 * GROWTHS. */
static void sum_spans(const struct series *series, const struct spans *spans,
                      const struct subjects *subjects, size_t *entries, struct growths *growths)
{
	bool has_kinds = true;
	for (unsigned end = 0; end <= spans->count; end++)
		has_kinds &= series->dumps[spans->dumps[end]]->totals.reach.is_known;
	for (unsigned end = 0; end <= spans->count; end++) {
		const struct dump *dump = series->dumps[spans->dumps[end]];
		for (size_t i = 0; i < dump->site_count; i++) {
			const struct site *site = &dump->sites[i];
			size_t subject = subjects->of_stack[site->stack->number];
			size_t *at = &entries[subject];
			if (!*at) {
				GROW(growths->all, growths->room, growths->count + 1);
				*at = ++growths->count;
				growths->all[*at - 1] = (struct growth){
				        .stack = subjects->names ? NULL : site->stack,
				        .name = subjects->names ? subjects->names[subject] : NULL,
				        .first_dump = series->dumps[0],
				        .last_dump = series->dumps[series->count - 1],
				        .spans = spans->count,
				        .has_kinds = has_kinds,
				        .bytes_error = -1,
				        .subject = subject,
				};
			}
			struct growth *growth = &growths->all[*at - 1];
			growth->live.at[end] += (int64_t)site->bytes;
			growth->lost.at[end] += (int64_t)lost_bytes(&site->reach);
			if (end == 0 || end == spans->count)
				add_error(&growth->bytes_error, site->estimate.live_bytes_error);
			if (end == 0) {
				growth->first_bytes += site->bytes;
				growth->first_blocks += site->blocks;
				add_reach(&growth->first_reach, &site->reach);
			} else if (end == spans->count) {
				growth->last_bytes += site->bytes;
				growth->last_blocks += site->blocks;
				add_reach(&growth->last_reach, &site->reach);
			}
		}
	}
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

/* Adds each subject of SERIES that grew.  ENTRIES is all 0 before and after. */
static void grow_series(const struct series *series, const struct subjects *subjects,
                        size_t *entries, struct growths *growths)
{
	struct spans spans = cut_series(series);
	size_t start = growths->count, kept = start;

	sum_spans(series, &spans, subjects, entries, growths);
	for (size_t i = start; i < growths->count; i++) {
		struct growth growth = growths->all[i];
		entries[growth.subject] = 0;
		growth.live.steady = steady_bytes(&growth.live, &spans);
		growth.first_reach.is_known = growth.last_reach.is_known = growth.has_kinds;
		if (growth.has_kinds)
			growth.lost.steady = steady_bytes(&growth.lost, &spans);
		growth.may_be_chance = is_chance((int64_t)(growth.last_bytes - growth.first_bytes),
		                                 lost_growth(&growth), growth.bytes_error);
		if (growth.last_bytes > growth.first_bytes || lost_growth(&growth) > 0)
			growths->all[kept++] = growth;
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
