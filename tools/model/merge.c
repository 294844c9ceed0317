/* merge.c - see merge.h. */
#include "tools/model/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
#include "tools/model/kinds.h"
#include "tools/model/totals.h"

/* -- what is the same across processes --------------------------------------------------------- */

/* A stack of the sum. */
struct known_stack {
	const struct stack *stack;
	size_t site; /* its index */
};

/* Returns true if A and B, which may be NULL, are one module as far as it is known.  If its line
 * was lost, it has a name alone.  Build-ids and paths are interned: equal text has one address. */
static bool same_module(const struct module *a, const struct module *b)
{
	if (a == b || !a || !b)
		return a == b;
	if (a->build_id && b->build_id)
		return a->build_id == b->build_id;
	if (a->path == a->name || b->path == b->name)
		return strcmp(a->name, b->name) == 0;
	return a->path == b->path;
}

/* The modules of equal stacks may not be equally known.  Addresses in no module, as of code that
 * was generated at run time, mean nothing in another process: they count as equal. */
static bool same_stack(const void *key, const void *entry)
{
	const struct stack *a = key, *b = ((const struct known_stack *)entry)->stack;
	if (a == b)
		return true;
	if (a->depth != b->depth)
		return false;
	for (unsigned i = 0; i < a->depth; i++)
		if ((a->at[i]->offset != b->at[i]->offset && a->at[i]->module) ||
		    !same_module(a->at[i]->module, b->at[i]->module))
			return false;
	return true;
}

static uint64_t stack_hash(const struct stack *stack)
{
	uint64_t hash = stack->depth;
	for (unsigned i = 0; i < stack->depth; i++)
		hash = hash_word(hash, stack->at[i]->module ? stack->at[i]->offset : 0);
	return hash;
}

/* Returns how many frames of STACK lie in modules whose build is known. */
static unsigned count_builds(const struct stack *stack)
{
	unsigned count = 0;
	for (unsigned i = 0; i < stack->depth; i++)
		count += stack->at[i]->module && stack->at[i]->module->build_id;
	return count;
}

static bool same_pointer(const void *key, const void *entry)
{
	return key == entry;
}

/* A note, and in how many dumps it is. */
struct noted {
	const char *text;
	unsigned long pid; /* of the first */
	size_t dumps;
};

static bool same_note(const void *key, const void *entry)
{
	return strcmp(key, ((const struct noted *)entry)->text) == 0;
}

/* -- adding up --------------------------------------------------------------------------------- */

/* Adds VALUE to *SUM.  The sum is known only if each value is; it stops at INT64_MAX. */
static void add_total(int64_t *sum, int64_t value)
{
	if (*sum < 0 || value < 0)
		*sum = -1;
	else if (__builtin_add_overflow(*sum, value, sum))
		*sum = INT64_MAX;
}

static void add_totals(struct totals *sum, const struct totals *one)
{
	add_total(&sum->live_bytes, one->live_bytes);
	add_total(&sum->live_blocks, one->live_blocks);
	add_total(&sum->untracked_blocks, one->untracked_blocks);
	add_total(&sum->untracked_bytes, one->untracked_bytes);
	add_total(&sum->lost_call_sites, one->lost_call_sites);
	add_total(&sum->truncated_blocks, one->truncated_blocks);
	add_total(&sum->guessed_blocks, one->guessed_blocks);
	add_total(&sum->freed_elsewhere_blocks, one->freed_elsewhere_blocks);
	add_total(&sum->foreign_frees, one->foreign_frees);
	add_known(&sum->left_out_blocks, one->left_out_blocks);
	add_known(&sum->left_out_bytes, one->left_out_bytes);
	add_total(&sum->tracer_bytes, one->tracer_bytes);
	add_reach(&sum->reach, &one->reach);
	add_estimate(&sum->estimate, &one->estimate);
}

static int compare_sites(const void *left, const void *right)
{
	const struct site *a = left, *b = right;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	if (a->blocks != b->blocks)
		return a->blocks > b->blocks ? -1 : 1;
	return a->stack->number < b->stack->number ? -1 : a->stack->number > b->stack->number;
}

/* Steadiest growth first, of lost memory before that of all. */
static int compare_site_growth(const void *left, const void *right)
{
	const struct spread *a = ((const struct site *)left)->spread;
	const struct spread *b = ((const struct site *)right)->spread;
	const int64_t ranks[][2] = {
	        {a->lost_steady_bytes, b->lost_steady_bytes},
	        {a->lost_gained_bytes > 0, b->lost_gained_bytes > 0},
	        {a->steady_bytes, b->steady_bytes},
	        {a->lost_gained_bytes, b->lost_gained_bytes},
	        {a->gained_bytes, b->gained_bytes},
	};
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
		if (ranks[i][0] != ranks[i][1])
			return ranks[i][0] > ranks[i][1] ? -1 : 1;
	return compare_sites(left, right);
}

struct merger {
	struct report *report;
	struct arena *arena; /* of the sum */
	struct dump *dump;   /* the sum; its sites move while they become more */
	size_t site_room, mapping_room;
	struct site_sum *sums; /* by call site */
	size_t sum_room;
	size_t *known; /* by the number of a stack: 1 + its call site, or 0 */
	size_t known_room;
	struct table stacks; /* of the call sites: struct known_stack */
	struct table programs, notes;
	struct noted **noted;
	size_t noted_count, noted_room;
	struct merged *merged;
	const char *host;       /* of the process before */
	unsigned kinds;         /* a set: of what counts for the spread; 0: everything */
	double complete, bytes; /* of the dumps that have a share of complete stacks */
	size_t complete_known;
	/* Dumps that say what was allocated, what of it was temporary, a peak, a mark. */
	size_t allocated, temporary, peaks, marks;
	size_t gaps; /* processes with several dumps, of which one may not show all call sites */
	const char *recording; /* of the dumps so far, as in struct totals, or "mixed" */
	bool intervals_differ; /* of the samples */
};

/* Returns the index of the call site of the sum that has STACK. */
static size_t site_of(struct merger *merger, const struct stack *stack)
{
	struct dump *dump = merger->dump;
	size_t before = merger->known_room;
	GROW(merger->known, merger->known_room, stack->number + 1);
	if (merger->known_room > before)
		memset(merger->known + before, 0,
		       (merger->known_room - before) * sizeof *merger->known);
	size_t *known = &merger->known[stack->number];
	if (*known)
		return *known - 1;
	uint64_t hash = stack_hash(stack);
	struct known_stack *equal = table_find(&merger->stacks, hash, stack, same_stack);
	if (equal) {
		*known = equal->site + 1;
		if (count_builds(stack) > count_builds(equal->stack))
			dump->sites[equal->site].stack = equal->stack = stack;
		return equal->site;
	}
	equal = arena_alloc(merger->arena, sizeof *equal);
	*equal = (struct known_stack){stack, dump->site_count};
	table_add(&merger->stacks, hash, equal);
	GROW(dump->sites, merger->site_room, dump->site_count + 1);
	GROW(merger->sums, merger->sum_room, dump->site_count + 1);
	dump->sites[dump->site_count] = (struct site){.estimate = NO_ESTIMATE, .stack = stack};
	merger->sums[dump->site_count] = (struct site_sum){0};
	*known = ++dump->site_count;
	return *known - 1;
}

/* Adds the call sites of DUMP, which is POINT of PROCESS. */
static void add_sites(struct merger *merger, struct merged_process *process, enum point point,
                      const struct dump *dump)
{
	process->hidden[point] = find_most_hidden(dump);
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		size_t index = site_of(merger, site->stack);
		struct site_sum *sum = &merger->sums[index];
		if (sum->process != process)
			start_process(sum, process);
		const unsigned kinds = merger->kinds ? merger->kinds : KINDS_ALL;
		const struct reach_sums reach = only_kinds(&site->reach, kinds);
		const uint64_t blocks = merger->kinds ? kinds_blocks(&reach, kinds) : site->blocks;
		++*(site->lacks_frames ? &sum->lacking[point] : &sum->parts[point]);
		add_up(&sum->at[point], merger->kinds ? kinds_bytes(&reach, kinds) : site->bytes);
		add_up(&sum->blocks_at[point], blocks);
		add_up(&sum->lost_at[point], lost_bytes(&reach));
		if (point != POINT_LAST)
			continue;
		struct site *into = &merger->dump->sites[index];
		if (into->blocks == 0 && into->bytes == 0) {
			into->kind = site->kind;
			into->is_cut = site->is_cut;
			into->origin = site->origin;
			into->library = site->library;
		}
		if (!merger->kinds || blocks)
			sum->is_live = true;
		add_up(&into->bytes, site->bytes);
		add_up(&into->blocks, site->blocks);
		add_reach(&into->reach, &site->reach);
		add_estimate(&into->estimate, &site->estimate);
	}
}

/* Adds the coverage of ONE.  The sum covers the whole process if all its dumps do. */
static void add_coverage(struct merger *merger, const struct dump *one)
{
	struct dump *sum = merger->dump;
	const size_t size = one->bypass_count * sizeof *one->bypasses;

	if (!sum->coverage || (one->coverage && strcmp(one->coverage, "program") == 0))
		sum->coverage = one->coverage;
	if (sum->bypass_count > 0 || size == 0)
		return;
	sum->bypasses = arena_alloc(merger->arena, size);
	memcpy(sum->bypasses, one->bypasses, size);
	sum->bypass_count = one->bypass_count;
}

/* Adds what ONE left out from before its fork.  What a dump includes is in its live bytes. */
static void add_inherited(struct totals *sum, const struct totals *one)
{
	if (!one->inherited || strcmp(one->inherited, "left_out") != 0)
		return;
	sum->inherited = one->inherited;
	add_total(&sum->inherited_bytes, one->inherited_bytes);
	add_total(&sum->inherited_blocks, one->inherited_blocks);
}

/* Counts the notes of ONE. */
static void add_notes(struct merger *merger, const struct dump *one)
{
	for (size_t i = 0; i < one->note_count; i++) {
		const char *text = one->notes[i];
		uint64_t hash = hash_bytes(0, text, strlen(text));
		struct noted *noted = table_find(&merger->notes, hash, text, same_note);
		if (!noted) {
			noted = arena_alloc(merger->arena, sizeof *noted);
			noted->text = arena_copy(merger->arena, text, strlen(text));
			noted->pid = one->pid;
			table_add(&merger->notes, hash, noted);
			GROW(merger->noted, merger->noted_room, merger->noted_count + 1);
			merger->noted[merger->noted_count++] = noted;
		}
		noted->dumps++;
	}
}

/* The most notes of the sum's own (drop_partial, note_gaps). */
enum { OWN_NOTES = 6 };

/* Gives the sum each note once, with its process or the number of processes. */
static void finish_notes(struct merger *merger)
{
	struct arena *arena = merger->arena;
	struct dump *dump = merger->dump;
	dump->notes = arena_alloc(arena, (merger->noted_count + OWN_NOTES) * sizeof *dump->notes);
	for (size_t i = 0; i < merger->noted_count; i++) {
		const struct noted *noted = merger->noted[i];
		dump->notes[dump->note_count++] =
		        noted->dumps > 1
		                ? arena_format(arena, "%s (%zu processes)", noted->text,
		                               noted->dumps)
		                : arena_format(arena, "%s (process %lu)", noted->text, noted->pid);
	}
}

/* Widens the span of times from *FIRST to *LAST by TIME.  Each is in RFC 3339, or NULL. */
static void add_time(struct merger *merger, const char **first, const char **last, const char *time)
{
	if (!time)
		return;
	if (!*first || strcmp(time, *first) < 0)
		*first = arena_copy(merger->arena, time, strlen(time));
	if (!*last || strcmp(time, *last) > 0)
		*last = arena_copy(merger->arena, time, strlen(time));
}

/* Adds the program, the time and the state of ONE. */
static void add_head(struct merger *merger, const struct dump *one)
{
	struct dump *sum = merger->dump;
	struct merged *merged = merger->merged;

	merged->dumps++;
	merged->crashed += one->crash != NULL;
	merged->with_kinds += one->totals.reach.is_known;
	merged->damaged += one->damage != NULL;
	uint64_t hash = hash_word(0, (uintptr_t)one->program);
	if (one->program && !table_find(&merger->programs, hash, one->program, same_pointer)) {
		table_add(&merger->programs, hash, (void *)one->program);
		merged->programs++;
		sum->program = one->program;
	}
	add_time(merger, &merged->first_time, &merged->last_time, one->time);
}

/* Adds what ONE says of its recording, its peak and its mark. */
static void add_recording(struct merger *merger, const struct totals *one)
{
	struct totals *sum = &merger->dump->totals;
	struct merged *merged = merger->merged;
	const char *recording = one->recording ? one->recording : "all";
	const char *first = NULL;

	if (merger->recording && strcmp(merger->recording, recording) != 0)
		recording = "mixed";
	merger->recording = recording;
	if (sum->recording || one->recording)
		sum->recording = recording;
	add_time(merger, &first, &sum->recording_since, one->recording_since);
	sum->may_lack_blocks |= one->may_lack_blocks;
	if (sum->sample_interval > 0 && one->sample_interval > 0 &&
	    sum->sample_interval != one->sample_interval)
		merger->intervals_differ = true;
	if (sum->sample_interval < one->sample_interval)
		sum->sample_interval = one->sample_interval;
	merger->allocated += one->estimate.allocated_bytes >= 0;
	merger->temporary += one->estimate.temporary_blocks >= 0;
	merger->peaks += one->estimate.peak_bytes >= 0;
	merger->marks += one->estimate.since_mark_bytes >= 0;
	add_time(merger, &merged->first_peak_time, &sum->peak_time, one->peak_time);
	add_time(merger, &merged->first_mark_time, &sum->mark_time, one->mark_time);
}

struct merger *merge_start(struct report *report, unsigned kinds)
{
	struct merger *merger = xzalloc(sizeof *merger);
	merger->report = report;
	merger->kinds = kinds;
	merger->arena = report->dump_arena;
	merger->dump = arena_alloc(merger->arena, sizeof *merger->dump);
	merger->merged = arena_alloc(merger->arena, sizeof *merger->merged);
	struct totals *totals = &merger->dump->totals;
	totals->pause_ns = totals->scan_ns = totals->running_threads = -1;
	totals->left_out_blocks = totals->left_out_bytes = -1;
	merger->dump->totals.estimate = NO_ESTIMATE;
	merger->dump->totals.sample_interval = -1;
	return merger;
}

/* Adds the modules of DUMP that the sum does not have. */
static void add_modules(struct merger *merger, const struct dump *dump)
{
	struct dump *sum = merger->dump;
	for (size_t i = 0; i < dump->mapping_count; i++) {
		if (mapping_of(sum, dump->mappings[i].module))
			continue;
		GROW(sum->mappings, merger->mapping_room, sum->mapping_count + 1);
		sum->mappings[sum->mapping_count++] = dump->mappings[i];
	}
}

/* Adds the totals of ONE, the last dump of a process. */
static void add_last(struct merger *merger, const struct dump *one)
{
	struct dump *sum = merger->dump;
	add_totals(&sum->totals, &one->totals);
	add_recording(merger, &one->totals);
	add_inherited(&sum->totals, &one->totals);
	add_modules(merger, one);
	add_coverage(merger, one);
	add_up(&sum->suppressed_bytes, one->suppressed_bytes);
	add_up(&sum->suppressed_blocks, one->suppressed_blocks);
	sum->left_out |= one->left_out;
	sum->suppressed_sites += one->suppressed_sites;
	add_reach(&sum->suppressed_reach, &one->suppressed_reach);
	sum->kinds |= one->kinds;
	if (one->totals.complete_percent >= 0 && one->totals.live_bytes >= 0) {
		merger->complete += one->totals.complete_percent * (double)one->totals.live_bytes;
		merger->bytes += (double)one->totals.live_bytes;
		merger->complete_known++;
	}
	add_notes(merger, one);
	add_head(merger, one);
}

/* Sets *TIMES to those of the first, the middle and the last dump of LIST: in seconds or, if the
 * clock does not help, in dumps.  Returns the index of the middle dump, 0 if there is none. */
static size_t find_middle(const struct dump_list *list, int64_t times[POINTS])
{
	const bool timed = is_timed(list, 2);
	const int64_t duration = timed ? seconds_between(list->all[0], list->all[list->count - 1])
	                               : (int64_t)list->count - 1;
	size_t best = 0;

	times[POINT_FIRST] = times[POINT_MIDDLE] = 0;
	times[POINT_LAST] = duration;
	for (size_t i = 1; i + 1 < list->count; i++) {
		int64_t time = timed ? seconds_between(list->all[0], list->all[i]) : (int64_t)i;
		if (best && llabs(2 * time - duration) >= llabs(2 * times[POINT_MIDDLE] - duration))
			continue;
		best = i;
		times[POINT_MIDDLE] = time;
	}
	return best;
}

void merge_process(struct merger *merger, const struct dump_list *list, const char *host)
{
	const struct dump *last = list->all[list->count - 1];
	struct merged *merged = merger->merged;
	struct merged_process *process = arena_alloc(merger->arena, sizeof *process);

	process->pid = last->pid;
	process->log = last->log;
	process->host = host;
	if (merged->dumps == 0 || host != merger->host)
		merged->hosts += host != NULL;
	merger->host = host;
	if (list->count > 1) {
		size_t middle = find_middle(list, process->times);
		process->grows = true;
		process->has_kinds = list->all[0]->totals.reach.is_known &&
		                     list->all[middle]->totals.reach.is_known &&
		                     last->totals.reach.is_known;
		merged->series++;
		add_sites(merger, process, POINT_FIRST, list->all[0]);
		if (middle)
			add_sites(merger, process, POINT_MIDDLE, list->all[middle]);
	}
	add_sites(merger, process, POINT_LAST, last);
	add_last(merger, last);
	bool has_gap = false;
	for (unsigned point = 0; point < POINTS; point++)
		has_gap |= process->hidden[point].bytes > 0;
	merger->gaps += process->grows && has_gap;
}

/* Returns whether all dumps of the sum tell WHAT, which TELL of them do.  Adds a note to the sum if
 * only some do. */
static bool all_tell(struct merger *merger, size_t tell, const char *what)
{
	struct dump *dump = merger->dump;
	const size_t dumps = merger->merged->dumps;

	if (tell > 0 && tell < dumps)
		dump->notes[dump->note_count++] = arena_format(
		        merger->arena, "%s is left out: only %zu of %zu processes tell it", what,
		        tell, dumps);
	return tell == dumps;
}

/* Removes from the sum what not all dumps tell: a sum of some processes would look like that of
 * all.  Notes say so, and that samples have different intervals. */
static void drop_partial(struct merger *merger)
{
	struct dump *dump = merger->dump;
	const bool has_allocated = all_tell(merger, merger->allocated, "what was allocated so far");
	const bool has_temporary =
	        all_tell(merger, merger->temporary, "the number of temporary blocks");
	const bool has_peak = all_tell(merger, merger->peaks, "the peak");
	const bool has_mark = all_tell(merger, merger->marks, "what was allocated since the mark");

	if (merger->intervals_differ)
		dump->notes[dump->note_count++] =
		        "the largest of several sampling intervals is shown";
	for (size_t i = 0; i <= dump->site_count; i++) {
		struct estimate *estimate =
		        i < dump->site_count ? &dump->sites[i].estimate : &dump->totals.estimate;
		if (!has_allocated)
			estimate->allocated_bytes = estimate->allocated_blocks = -1;
		if (!has_temporary)
			estimate->temporary_blocks = -1;
		if (!has_peak)
			estimate->peak_bytes = estimate->peak_blocks = -1;
		if (!has_mark)
			estimate->since_mark_bytes = estimate->since_mark_blocks = -1;
	}
}

/* Adds a note to the sum if dumps may not show the growth of all call sites. */
static void note_gaps(struct merger *merger)
{
	struct dump *dump = merger->dump;

	if (merger->gaps > 0)
		dump->notes[dump->note_count++] = arena_format(
		        merger->arena,
		        "growth counts from where a call site is shown: dumps of %zu process%s "
		        "leave out call sites (top=, min_bytes=), or are damaged",
		        merger->gaps, merger->gaps == 1 ? "" : "es");
}

/* Returns whether SITE has no live blocks, and the sum does not know what it had before. */
static bool is_empty(const struct site *site)
{
	return site->blocks == 0 && site->estimate.allocated_blocks < 0 &&
	       site->estimate.peak_blocks < 0;
}

struct dump *merge_finish(struct merger *merger, bool by_growth)
{
	struct arena *arena = merger->arena;
	struct dump *dump = merger->dump;
	struct merged *merged = merger->merged;
	struct site *sites = arena_alloc(arena, (dump->site_count + 1) * sizeof *sites);
	struct spread *spreads = arena_alloc(arena, (dump->site_count + 1) * sizeof *spreads);
	size_t count = 0;

	finish_notes(merger);
	drop_partial(merger);
	note_gaps(merger);
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct spread *spread = &merger->sums[i].spread;
		finish_process(&merger->sums[i]);
		/* A call site that only earlier dumps have is gone. */
		if (spread->processes == 0 || is_empty(&dump->sites[i]) ||
		    (by_growth && spread->gained_bytes <= 0 && spread->lost_gained_bytes <= 0))
			continue;
		spreads[count] = *spread;
		sites[count] = dump->sites[i];
		sites[count].processes = spread->processes;
		sites[count].spread = &spreads[count];
		count++;
	}
	dump->totals.call_sites = 0;
	for (size_t i = 0; i < dump->site_count; i++)
		dump->totals.call_sites +=
		        merger->sums[i].spread.processes > 0 && dump->sites[i].blocks > 0;
	if (count)
		qsort(sites, count, sizeof *sites, by_growth ? compare_site_growth : compare_sites);
	for (size_t i = 0; i < count; i++)
		sites[i].rank = i + 1;
	free(dump->sites);
	dump->sites = sites;
	dump->site_count = count;
	struct mapping *mappings = arena_alloc(arena, (dump->mapping_count + 1) * sizeof *mappings);
	if (dump->mapping_count)
		memcpy(mappings, dump->mappings, dump->mapping_count * sizeof *mappings);
	free(dump->mappings);
	dump->mappings = mappings;
	dump->mapping_room = dump->mapping_count;
	dump->totals.dump_ns = -1;
	dump->totals.complete_percent = merger->complete_known < merged->dumps ? -1
	                                : merger->bytes > 0 ? merger->complete / merger->bytes
	                                                    : 100;
	merged->by_growth = by_growth;
	dump->merged = merged;
	dump->seconds = -1;
	table_free(&merger->stacks);
	table_free(&merger->programs);
	table_free(&merger->notes);
	free(merger->noted);
	free(merger->known);
	free(merger->sums);
	free(merger);
	return dump;
}

const struct dump *merge_dumps(struct report *report, const struct dump_list *list)
{
	struct merger *merger = merge_start(report, 0);
	for (size_t i = 0; i < list->count; i++) {
		const struct dump_list one = {&list->all[i], 1};
		merge_process(merger, &one, NULL);
	}
	return merge_finish(merger, false);
}
