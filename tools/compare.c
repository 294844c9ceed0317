/* compare.c - see compare.h. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

/* -- what a call site is known by ---------------------------------------------------------------- */

/* Same build in both dumps? */
static bool in_both(const struct dump *old, const struct dump *new, const struct module *module)
{
	return module->build_id && mapping_of(old, module) && mapping_of(new, module);
}

/* What MODULE is called in either dump: the program itself may have another name in another build. */
static const char *module_name(const struct module *module)
{
	return module->main ? "" : module->name;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return text ? hash_bytes(hash, text, strlen(text)) : hash_word(hash, 0);
}

static uint64_t location_hash(const struct dump *old, const struct dump *new, const struct location *at)
{
	uint64_t hash = at->module ? hash_text(1, module_name(at->module)) : 0;
	if (!at->module || in_both(old, new, at->module) || !at->frames[0].function)
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
	if (in_both(old, new, a->module) || in_both(old, new, b->module) || !a->frames[0].function ||
	    !b->frames[0].function)
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

/* -- two dumps ----------------------------------------------------------------------------------- */

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
	int64_t gain_a = gained(a), gain_b = gained(b);
	if (gain_a != gain_b)
		return gain_a > gain_b ? -1 : 1;
	return a->stack->number < b->stack->number ? -1 : a->stack->number > b->stack->number;
}

static struct change *find_change(struct table *table, struct changes *changes, struct change_key key,
                                  const struct dump *dump)
{
	uint64_t hash = key.stack->depth;
	for (unsigned i = 0; i < key.stack->depth; i++)
		hash = hash_word(hash, location_hash(key.old, key.new, key.stack->at[i]));
	struct change *change = table_find(table, hash, &key, same_change);
	if (!change) {
		change = &changes->all[changes->count++];
		*change = (struct change){.stack = key.stack, .dump = dump};
		table_add(table, hash, change);
	}
	return change;
}

struct changes compare_dumps(struct report *report, const struct dump *old, const struct dump *new)
{
	struct changes changes = {.old = old, .new = new};
	struct table table = {0};

	/* Room for all of them at once: the table points into the array. */
	changes.all =
	        arena_alloc(&report->arena, (old->site_count + new->site_count) * sizeof *changes.all);
	for (size_t i = 0; i < new->site_count; i++) {
		const struct site *site = &new->sites[i];
		struct change_key key = {old, new, site->stack};
		struct change *change = find_change(&table, &changes, key, new);
		change->new_bytes += site->bytes;
		change->new_blocks += site->blocks;
	}
	for (size_t i = 0; i < old->site_count; i++) {
		const struct site *site = &old->sites[i];
		struct change_key key = {old, new, site->stack};
		struct change *change = find_change(&table, &changes, key, old);
		change->old_bytes += site->bytes;
		change->old_blocks += site->blocks;
	}
	table_free(&table);

	size_t kept = 0;
	for (size_t i = 0; i < changes.count; i++) {
		const struct change *change = &changes.all[i];
		if (change->old_bytes == change->new_bytes && change->old_blocks == change->new_blocks)
			changes.unchanged++;
		else
			changes.all[kept++] = *change;
	}
	changes.count = kept;
	if (kept)
		qsort(changes.all, kept, sizeof *changes.all, compare_changes);
	return changes;
}

const char *change_name(const struct change *change)
{
	if (change->old_blocks == 0)
		return "appeared";
	if (change->new_blocks == 0)
		return "vanished";
	if (change->new_bytes != change->old_bytes)
		return change->new_bytes > change->old_bytes ? "grew" : "shrank";
	return change->new_blocks > change->old_blocks ? "grew" : "shrank";
}

/* -- a series ------------------------------------------------------------------------------------ */

/* The dumps of one process in order. */
struct series {
	const struct dump **dumps;
	size_t count, room;
};

static int compare_sequence(const void *left, const void *right)
{
	const struct dump *a = *(const struct dump *const *)left,
	                  *b = *(const struct dump *const *)right;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Adds up each stack of the series at the ends of its spans.  OF_STACK: 1 + its index, by the stack's number. */
static void sum_spans(const struct series *series, unsigned spans, size_t *of_stack,
                      struct growths *growths)
{
	for (unsigned span = 0; span <= spans; span++) {
		const struct dump *dump = series->dumps[span * (series->count - 1) / spans];
		for (size_t i = 0; i < dump->site_count; i++) {
			const struct site *site = &dump->sites[i];
			size_t *at = &of_stack[site->stack->number];
			if (!*at) {
				GROW(growths->all, growths->room, growths->count + 1);
				*at = ++growths->count;
				growths->all[*at - 1] = (struct growth){
				        .stack = site->stack,
				        .first_dump = series->dumps[0],
				        .last_dump = series->dumps[series->count - 1],
				        .spans = spans,
				};
			}
			struct growth *growth = &growths->all[*at - 1];
			growth->spans_bytes[span] += (int64_t)site->bytes;
			if (span == 0) {
				growth->first_bytes += site->bytes;
				growth->first_blocks += site->blocks;
			} else if (span == spans) {
				growth->last_bytes += site->bytes;
				growth->last_blocks += site->blocks;
			}
		}
	}
}

/* What GROWTH has gained at least in every span, times their number. */
static int64_t steady_bytes(const struct growth *growth)
{
	int64_t least = INT64_MAX;
	for (unsigned span = 0; span < growth->spans; span++) {
		int64_t gain = growth->spans_bytes[span + 1] - growth->spans_bytes[span];
		least = gain < least ? gain : least;
	}
	return least > 0 ? least * growth->spans : 0;
}

/* Adds the growth of each stack of the series that grew.  OF_STACK is all 0 before and after. */
static void grow_series(const struct series *series, size_t *of_stack, struct growths *growths)
{
	unsigned spans = series->count - 1 < SPANS_MAX ? (unsigned)series->count - 1 : SPANS_MAX;
	size_t start = growths->count, kept = start;

	sum_spans(series, spans, of_stack, growths);
	for (size_t i = start; i < growths->count; i++) {
		struct growth growth = growths->all[i];
		of_stack[growth.stack->number] = 0;
		growth.steady_bytes = steady_bytes(&growth);
		if (growth.last_bytes > growth.first_bytes)
			growths->all[kept++] = growth;
	}
	growths->count = kept;
}

static int compare_growth(const void *left, const void *right)
{
	const struct growth *a = left, *b = right;
	if (a->steady_bytes != b->steady_bytes)
		return a->steady_bytes > b->steady_bytes ? -1 : 1;
	uint64_t gain_a = a->last_bytes - a->first_bytes, gain_b = b->last_bytes - b->first_bytes;
	if (gain_a != gain_b)
		return gain_a > gain_b ? -1 : 1;
	return a->stack->number < b->stack->number ? -1 : a->stack->number > b->stack->number;
}

struct growths find_growth(struct report *report)
{
	struct growths growths = {0};
	struct series *series = arena_alloc(&report->arena, report->process_count * sizeof *series);
	size_t *of_stack = arena_alloc(&report->arena, report->stack_count * sizeof *of_stack);

	for (size_t i = 0; i < report->dump_count; i++) {
		struct series *own = &series[report->dumps[i]->process];
		GROW(own->dumps, own->room, own->count + 1);
		own->dumps[own->count++] = report->dumps[i];
	}
	for (size_t i = 0; i < report->process_count; i++) {
		if (series[i].count > 1) {
			qsort(series[i].dumps, series[i].count, sizeof *series[i].dumps,
			      compare_sequence);
			grow_series(&series[i], of_stack, &growths);
			growths.series++;
		}
		free(series[i].dumps);
	}
	if (growths.count)
		qsort(growths.all, growths.count, sizeof *growths.all, compare_growth);
	return growths;
}
