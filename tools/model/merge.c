/* merge.c - see merge.h. */
#include "tools/model/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- what is the same across processes --------------------------------------------------------- */

/* Returns what identifies MODULE.  Build-ids and paths are interned: equal text has one address. */
static const char *module_key(const struct module *module)
{
	return !module ? NULL : module->build_id ? module->build_id : module->path;
}

static bool same_stack(const void *key, const void *entry)
{
	const struct stack *a = key, *b = ((const struct site *)entry)->stack;
	if (a == b)
		return true;
	if (a->depth != b->depth)
		return false;
	for (unsigned i = 0; i < a->depth; i++)
		if (a->at[i]->offset != b->at[i]->offset ||
		    module_key(a->at[i]->module) != module_key(b->at[i]->module))
			return false;
	return true;
}

static uint64_t stack_hash(const struct stack *stack)
{
	uint64_t hash = stack->depth;
	for (unsigned i = 0; i < stack->depth; i++) {
		hash = hash_word(hash, stack->at[i]->offset);
		hash = hash_word(hash, (uintptr_t)module_key(stack->at[i]->module));
	}
	return hash;
}

static bool same_pointer(const void *key, const void *entry)
{
	return key == entry;
}

/* A note, and in how many dumps it is. */
struct noted {
	const char *text; /* interned */
	unsigned long pid;
	size_t dumps;
};

static bool same_note(const void *key, const void *entry)
{
	return key == ((const struct noted *)entry)->text;
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

/* Adds VALUE to *SUM.  A value that is not known adds nothing. */
static void add_known(int64_t *sum, int64_t value)
{
	if (*sum < 0)
		*sum = value;
	else if (value >= 0)
		add_total(sum, value);
}

/* Adds ONE to SUM.  The errors of independent samples add up by their squares. */
static void add_estimate(struct estimate *sum, const struct estimate *one)
{
	add_known(&sum->sampled_blocks, one->sampled_blocks);
	if (sum->live_bytes_error < 0)
		sum->live_bytes_error = one->live_bytes_error;
	else if (one->live_bytes_error >= 0)
		sum->live_bytes_error = (int64_t)hypot((double)sum->live_bytes_error,
		                                       (double)one->live_bytes_error);
	add_known(&sum->allocated_bytes, one->allocated_bytes);
	add_known(&sum->allocated_blocks, one->allocated_blocks);
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
	add_total(&sum->tracer_bytes, one->tracer_bytes);
	add_estimate(&sum->estimate, &one->estimate);
	if (sum->sample_interval < one->sample_interval)
		sum->sample_interval = one->sample_interval;
}

static void add_modules(struct dump *merged, const struct dump *dump)
{
	for (size_t i = 0; i < dump->mapping_count; i++)
		if (!mapping_of(merged, dump->mappings[i].module))
			merged->mappings[merged->mapping_count++] = dump->mappings[i];
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

/* Adds SITE to the call site of MERGED that has its stack.  KNOWN is that call site by the number
 * of a stack, once it was found.  COUNTED is, by call site, the NUMBER of the last dump that counts
 * among its processes. */
static void add_site(struct dump *merged, struct table *table, struct site **known,
                     unsigned *counted, unsigned number, const struct site *site)
{
	struct site *into = known[site->stack->number];
	if (!into) {
		uint64_t hash = stack_hash(site->stack);
		into = table_find(table, hash, site->stack, same_stack);
		if (!into) {
			into = &merged->sites[merged->site_count++];
			*into = (struct site){.stack = site->stack,
			                      .kind = site->kind,
			                      .of_system = site->of_system,
			                      .estimate = NO_ESTIMATE};
			table_add(table, hash, into);
		}
		known[site->stack->number] = into;
	}
	add_up(&into->bytes, site->bytes);
	add_up(&into->blocks, site->blocks);
	add_estimate(&into->estimate, &site->estimate);
	if (counted[into - merged->sites] != number)
		into->processes++;
	counted[into - merged->sites] = number;
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

/* Gives MERGED each note of the dumps in LIST once, with its process or the number of processes. */
static void add_notes(struct arena *arena, struct dump *merged, const struct dump_list *list)
{
	struct table table = {0};
	size_t all = 0, count = 0;
	for (size_t i = 0; i < list->count; i++)
		all += list->all[i]->note_count;
	struct noted *noted = xzalloc((all + 1) * sizeof *noted);
	for (size_t i = 0; i < list->count; i++)
		for (size_t j = 0; j < list->all[i]->note_count; j++) {
			const char *text = list->all[i]->notes[j];
			uint64_t hash = hash_word(0, (uintptr_t)text);
			struct noted *one = table_find(&table, hash, text, same_note);
			if (!one) {
				one = &noted[count++];
				*one = (struct noted){.text = text, .pid = list->all[i]->pid};
				table_add(&table, hash, one);
			}
			one->dumps++;
		}
	merged->notes = arena_alloc(arena, (count + 1) * sizeof *merged->notes);
	for (size_t i = 0; i < count; i++)
		merged->notes[merged->note_count++] =
		        noted[i].dumps > 1 ? arena_format(arena, "%s (%zu processes)",
		                                          noted[i].text, noted[i].dumps)
		                           : arena_format(arena, "%s (process %lu)", noted[i].text,
		                                          noted[i].pid);
	table_free(&table);
	free(noted);
}

/* Adds the program, the time and the state of ONE to SUM and MERGED.  PROGRAMS are those so far. */
static void add_head(struct dump *sum, struct merged *merged, struct table *programs,
                     const struct dump *one)
{
	merged->dumps++;
	merged->crashed += one->crash != NULL;
	merged->damaged += one->damage != NULL;
	uint64_t hash = hash_word(0, (uintptr_t)one->program);
	if (one->program && !table_find(programs, hash, one->program, same_pointer)) {
		table_add(programs, hash, (void *)one->program);
		merged->programs++;
		sum->program = one->program;
	}
	if (one->time && (!merged->first_time || strcmp(one->time, merged->first_time) < 0))
		merged->first_time = one->time;
	if (one->time && (!merged->last_time || strcmp(one->time, merged->last_time) > 0))
		merged->last_time = one->time;
}

const struct dump *merge_dumps(struct report *report, const struct dump_list *list)
{
	struct arena *arena = &report->arena;
	struct dump *dump = arena_alloc(arena, sizeof *dump);
	struct merged *merged = arena_alloc(arena, sizeof *merged);
	struct table table = {0};
	struct table programs = {0};
	size_t modules = 0, complete_known = 0;
	double complete = 0, bytes = 0;

	dump->totals.estimate = NO_ESTIMATE;
	dump->totals.sample_interval = -1;
	for (size_t i = 0; i < list->count; i++)
		modules += list->all[i]->mapping_count;
	if (modules > report->module_count)
		modules = report->module_count;
	dump->mappings = arena_alloc(arena, modules * sizeof *dump->mappings);
	dump->sites = arena_alloc(arena, report->stack_count * sizeof *dump->sites);
	struct site **known = xzalloc((report->stack_count + 1) * sizeof *known);
	unsigned *counted = xzalloc((report->stack_count + 1) * sizeof *counted);

	for (size_t i = 0; i < list->count; i++) {
		const struct dump *one = list->all[i];
		for (size_t j = 0; j < one->site_count; j++)
			add_site(dump, &table, known, counted, (unsigned)i + 1, &one->sites[j]);
		add_totals(&dump->totals, &one->totals);
		add_inherited(&dump->totals, &one->totals);
		add_modules(dump, one);
		add_up(&dump->suppressed_bytes, one->suppressed_bytes);
		add_up(&dump->suppressed_blocks, one->suppressed_blocks);
		dump->suppressed_sites += one->suppressed_sites;
		if (one->totals.complete_percent >= 0 && one->totals.live_bytes >= 0) {
			complete += one->totals.complete_percent * (double)one->totals.live_bytes;
			bytes += (double)one->totals.live_bytes;
			complete_known++;
		}
		add_head(dump, merged, &programs, one);
	}
	add_notes(arena, dump, list);
	table_free(&table);
	table_free(&programs);
	free(known);
	free(counted);
	if (dump->site_count)
		qsort(dump->sites, dump->site_count, sizeof *dump->sites, compare_sites);
	for (size_t i = 0; i < dump->site_count; i++)
		dump->sites[i].rank = i + 1;
	dump->totals.call_sites = (int64_t)dump->site_count;
	dump->totals.dump_ns = -1;
	dump->totals.complete_percent = complete_known < list->count ? -1
	                                : bytes > 0                  ? complete / bytes
	                                                             : 100;
	dump->merged = merged;
	dump->seconds = -1;
	return dump;
}
