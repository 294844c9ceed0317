/* compare.c - what changed between two dumps, see compare.h. */
#include "tools/model/compare.h"

#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
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

/* Returns true if both dumps are of one process.  Only then an address that lies in no module means
 * the same in both. */
static bool are_of_one_process(const struct dump *old, const struct dump *new)
{
	return old->process == new->process && !old->merged && !new->merged;
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
	if (!at->module && !are_of_one_process(old, new))
		return hash;
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
	if (!a->module && !b->module)
		return !are_of_one_process(old, new);
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

/* Makes of *BYTES and *BLOCKS, which a dump shows of a call site, the most that it may have if it
 * hides MOST at each of PARTS more; of blocks at most BLOCKS_LIMIT. */
static void add_hidden(struct most_hidden most, unsigned parts, uint64_t *bytes, uint64_t *blocks,
                       uint64_t blocks_limit)
{
	most = most_hidden_at(most, parts);
	add_up(bytes, most.bytes);
	add_up(blocks, most.blocks);
	if (*blocks > blocks_limit)
		*blocks = blocks_limit;
}

/* Makes CHANGE the least that it may be if the dump that shows fewer parts of it may hide the
 * others.  Returns false if it may be none. */
static bool bound_change(struct change *change, struct most_hidden old_hidden,
                         struct most_hidden new_hidden)
{
	bool is_change;

	if (change->old_parts < change->new_parts && old_hidden.bytes > 0) {
		add_hidden(old_hidden, change->new_parts - change->old_parts, &change->old_bytes,
		           &change->old_blocks, change->new_blocks);
		is_change = change->old_bytes < change->new_bytes;
	} else if (change->new_parts < change->old_parts && new_hidden.bytes > 0) {
		add_hidden(new_hidden, change->old_parts - change->new_parts, &change->new_bytes,
		           &change->new_blocks, change->old_blocks);
		is_change = change->new_bytes < change->old_bytes;
	} else {
		return true;
	}
	change->is_least = true;
	change->old_reach = change->new_reach = (struct reach_sums){0};
	return is_change;
}

/* Takes what has not changed, or perhaps not, out of CHANGES, and finds what may be chance. */
static void drop_unchanged(struct changes *changes)
{
	const struct most_hidden old_hidden = find_most_hidden(changes->old),
	                         new_hidden = find_most_hidden(changes->new);
	size_t kept = 0;
	for (size_t i = 0; i < changes->count; i++) {
		struct change *change = &changes->all[i];
		if (!bound_change(change, old_hidden, new_hidden)) {
			changes->uncompared++;
			continue;
		}
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

/* Returns how many call sites of processes SITE of DUMP stands for. */
static unsigned parts_of(const struct dump *dump, const struct site *site)
{
	return dump->merged ? site->processes : 1;
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
		if (site->lacks_frames)
			continue;
		struct change_key key = {old, new, site->stack};
		struct change *change = find_change(&table, &changes, key, new);
		change->new_parts += parts_of(new, site);
		change->new_bytes += site->bytes;
		change->new_blocks += site->blocks;
		add_error(&change->bytes_error, site->estimate.live_bytes_error);
		add_reach(&change->new_reach, &site->reach);
	}
	for (size_t i = 0; i < old->site_count; i++) {
		const struct site *site = &old->sites[i];
		if (site->lacks_frames)
			continue;
		struct change_key key = {old, new, site->stack};
		struct change *change = find_change(&table, &changes, key, old);
		change->old_parts += parts_of(old, site);
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
