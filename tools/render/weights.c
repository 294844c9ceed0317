/* weights.c - see weights.h. */
#include "tools/render/weights.h"

#include "tools/base/memory.h"
#include "tools/model/merge.h"
#include "tools/model/totals.h"

static void add_weight(struct weights *weights, struct weight weight)
{
	GROW(weights->all, weights->room, weights->count + 1);
	weights->all[weights->count++] = weight;
}

/* Returns VALUE, or 0 if it is not known. */
static int64_t known(int64_t value)
{
	return value > 0 ? value : 0;
}

/* Sets the parts of WEIGHT to the kinds of REACH less those of BEFORE, which may be NULL.  DUMP
 * says which kinds count. */
static void set_kinds(struct weight *weight, const struct dump *dump,
                      const struct reach_sums *before, const struct reach_sums *reach)
{
	for (unsigned kind = 0; kind < REACHES; kind++) {
		enum reach from = kind == REACH_INDIRECT && !dump->kinds ? REACH_WITHIN : kind;
		weight->kinds[kind] = (struct kind_part){
		        (int64_t)(reach->bytes[from] - (before ? before->bytes[from] : 0)),
		        (int64_t)(reach->blocks[from] - (before ? before->blocks[from] : 0)),
		};
	}
}

/* Returns what the totals of DUMP hold beyond its call sites. */
static struct weight hidden_weight(const struct dump *dump)
{
	struct weight hidden = {
	        .label = "[call sites not shown]",
	        .dump = dump,
	        .bytes = hidden_bytes(dump),
	        .blocks = hidden_blocks(dump),
	        .allocated_bytes = known(dump->totals.estimate.allocated_bytes),
	        .allocated_blocks = known(dump->totals.estimate.allocated_blocks),
	};
	for (size_t i = 0; i < dump->site_count; i++) {
		hidden.allocated_bytes -= known(dump->sites[i].estimate.allocated_bytes);
		hidden.allocated_blocks -= known(dump->sites[i].estimate.allocated_blocks);
	}
	hidden.allocated_bytes = known(hidden.allocated_bytes);
	hidden.allocated_blocks = known(hidden.allocated_blocks);
	return hidden;
}

/* The call sites of DUMP, and what its totals hold beyond them. */
static void add_dump(struct weights *weights, const struct dump *dump)
{
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		struct weight weight = {
		        .stack = site->stack,
		        .dump = dump,
		        .bytes = (int64_t)site->bytes,
		        .blocks = (int64_t)site->blocks,
		};
		if (weights->has_allocated) {
			weight.allocated_bytes = known(site->estimate.allocated_bytes);
			weight.allocated_blocks = known(site->estimate.allocated_blocks);
		}
		set_kinds(&weight, dump, NULL, &site->reach);
		add_weight(weights, weight);
	}
	if (weights->interval < dump->totals.sample_interval)
		weights->interval = dump->totals.sample_interval;
	struct weight hidden = hidden_weight(dump);
	if (!weights->has_allocated)
		hidden.allocated_bytes = hidden.allocated_blocks = 0;
	if (hidden.bytes || hidden.blocks || hidden.allocated_bytes || hidden.allocated_blocks)
		add_weight(weights, hidden);
}

/* Returns true if DUMP is a sum of processes, and shows what grows in them. */
static bool is_growth(const struct dump *dump)
{
	return dump->merged && dump->merged->by_growth;
}

/* The steady growth of the call sites of DUMP, such a sum. */
static void add_sum_growth(struct weights *weights, const struct dump *dump)
{
	for (size_t i = 0; i < dump->site_count; i++) {
		const struct site *site = &dump->sites[i];
		if (site->spread->steady_bytes > 0)
			add_weight(weights, (struct weight){
			                            .stack = site->stack,
			                            .dump = dump,
			                            .bytes = site->spread->steady_bytes,
			                            .blocks = site->spread->gained_blocks,
			                    });
	}
}

static void add_changes(struct weights *weights, const struct changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		const struct change *c = &changes->all[i];
		struct weight weight = {
		        .stack = c->stack,
		        .dump = c->dump,
		        .bytes = (int64_t)(c->new_bytes - c->old_bytes),
		        .blocks = (int64_t)(c->new_blocks - c->old_blocks),
		};
		if (c->old_reach.is_known && c->new_reach.is_known)
			set_kinds(&weight, changes->new, &c->old_reach, &c->new_reach);
		add_weight(weights, weight);
	}
}

static void add_growths(struct weights *weights, const struct growths *growths)
{
	for (size_t i = 0; i < growths->count; i++) {
		const struct growth *g = &growths->all[i];
		if (g->live.steady > 0)
			add_weight(weights,
			           (struct weight){
			                   .stack = g->stack,
			                   .dump = g->last_dump,
			                   .bytes = g->live.steady,
			                   .blocks = (int64_t)(g->last_blocks - g->first_blocks),
			           });
	}
}

/* Returns whether all dumps of ANSWER say what was allocated.  Growth does not. */
static bool all_say_allocated(const struct answer *answer)
{
	for (size_t i = 0; answer->dumps && i < answer->dumps->count; i++)
		if (is_growth(answer->dumps->all[i]) ||
		    answer->dumps->all[i]->totals.estimate.allocated_bytes < 0)
			return false;
	return answer->dumps && answer->dumps->count > 0;
}

struct weights answer_weights(const struct answer *answer)
{
	struct weights weights = {.interval = -1, .has_allocated = all_say_allocated(answer)};
	for (size_t i = 0; answer->dumps && i < answer->dumps->count; i++) {
		const struct dump *dump = answer->dumps->all[i];
		if (is_growth(dump))
			add_sum_growth(&weights, dump);
		else
			add_dump(&weights, dump);
	}
	if (answer->changes)
		add_changes(&weights, answer->changes);
	if (answer->growths)
		add_growths(&weights, answer->growths);
	return weights;
}
