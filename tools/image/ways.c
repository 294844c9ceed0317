/* ways.c - see ways.h. */
#include "tools/image/ways.h"

#include <stdlib.h>

#include "tools/base/binary_search.h"
#include "tools/base/memory.h"
#include "tools/base/table.h"

const char *const root_names[ROOT_PARTED + 1] = {
        [ROOT_NONE] = "none",         [ROOT_VARIABLE] = "variable", [ROOT_MODULE] = "module",
        [ROOT_DECLARED] = "declared", [ROOT_STORAGE] = "storage",   [ROOT_STACK] = "stack",
        [ROOT_REGISTER] = "register", [ROOT_MEMORY] = "memory",     [ROOT_IGNORED] = "ignored",
        [ROOT_PARTED] = "parted",
};

/* What is known of the way to a block.  KEY is equal for ways that are one way; 0: not known. */
struct trail {
	uint64_t key;
	size_t length; /* blocks, with this one */
};

/* -- roots ------------------------------------------------------------------------------------- */

static bool is_declared(const struct block_list *list, uint64_t address)
{
	for (size_t i = 0; !list->are_roots_listed && i < list->root_count; i++)
		if (address >= list->roots[i].start && address < list->roots[i].end)
			return true;
	return false;
}

/* Returns the root at ADDRESS. */
static struct way_root root_at(struct image_reach *reach, uint64_t address)
{
	struct way_root root = {.kind = ROOT_MEMORY, .address = address};
	struct image_module *module = image_module_at(&reach->modules, address);
	const struct image_thread *thread;

	if (module) {
		const struct image_variable *variable = image_variable_at(module, address);
		root.kind = variable ? ROOT_VARIABLE : ROOT_MODULE;
		root.module = module->mapping->module;
		if (variable) {
			root.variable = variable->name;
			root.offset = address - variable->start;
		}
	} else if (is_declared(reach->search.list, address)) {
		root.kind = ROOT_DECLARED;
	} else if ((thread = roots_storage_at(&reach->search, address)) != NULL) {
		root.kind = ROOT_STORAGE;
		root.thread = thread->id;
	} else if ((thread = roots_stack_at(&reach->search, address)) != NULL) {
		root.kind = ROOT_STACK;
		root.thread = thread->id;
	}
	return root;
}

/* Returns the root of BLOCK, to which no other block leads. */
static struct way_root root_of(struct image_reach *reach, size_t block)
{
	const struct mark *mark = &reach->marking.marks[block];

	if (mark->kind == MARK_LOST)
		return (struct way_root){.kind = ROOT_NONE};
	if (mark->thread >= 0)
		return (struct way_root){.kind = ROOT_REGISTER,
		                         .thread = reach->image.threads[mark->thread].id};
	if (reach->index.is_parted[block])
		return (struct way_root){.kind = ROOT_PARTED};
	if (mark->at == 0)
		return (struct way_root){.kind = ROOT_IGNORED};
	return root_at(reach, mark->at);
}

static uint64_t hash_root(const struct way_root *root)
{
	uint64_t hash = hash_word(hash_word(0, root->kind), root->thread);
	hash = hash_word(hash, (uint64_t)(uintptr_t)root->module);
	return hash_word(hash, (uint64_t)(uintptr_t)root->variable);
}

/* -- trails ------------------------------------------------------------------------------------ */

static uint64_t rank_of(const struct way_finder *finder, size_t block)
{
	return finder->reach->index.blocks[block].rank;
}

/* Finds the trail of BLOCK, and those of the blocks before it. */
static const struct trail *find_trail(struct way_finder *finder, size_t block)
{
	const struct mark *marks = finder->reach->marking.marks;
	size_t count = 0, at = block;

	while (finder->trails[at].key == 0) {
		GROW(finder->chain, finder->chain_room, count + 1);
		finder->chain[count++] = at;
		if (marks[at].from == NO_BLOCK)
			break;
		at = marks[at].from;
	}
	while (count-- > 0) {
		const size_t next = finder->chain[count], from = marks[next].from;
		struct trail *trail = &finder->trails[next];
		if (from == NO_BLOCK) {
			const struct way_root root = root_of(finder->reach, next);
			trail->key = hash_word(hash_root(&root), rank_of(finder, next)) | 1;
			trail->length = 1;
		} else {
			/* A row of blocks of one call site counts as one. */
			const struct trail *before = &finder->trails[from];
			trail->key = rank_of(finder, from) == rank_of(finder, next)
			                     ? before->key
			                     : hash_word(before->key, rank_of(finder, next)) | 1;
			trail->length = before->length + 1;
		}
	}
	return &finder->trails[block];
}

/* -- ways -------------------------------------------------------------------------------------- */

static enum reach kind_of(const struct mark *mark)
{
	return mark->kind == MARK_REACHABLE  ? REACH_REACHABLE
	       : mark->kind == MARK_POSSIBLE ? REACH_POSSIBLE
	       : mark->is_indirect           ? REACH_INDIRECT
	                                     : REACH_DEFINITE;
}

/* Sets the steps of WAY, and its root. */
static void set_steps(struct image_reach *reach, struct way *way)
{
	size_t block = way->block;

	way->steps = xmalloc(way->step_count * sizeof *way->steps);
	for (size_t i = way->step_count; i > 0; i--, block = reach->marking.marks[block].from)
		way->steps[i - 1] = block;
	way->root = root_of(reach, way->steps[0]);
}

/* Adds BLOCK to the ways that are known by TABLE. */
static void add_block(struct way_finder *finder, struct ways *ways, struct way **table, size_t mask,
                      size_t block)
{
	const struct trail *trail = find_trail(finder, block);
	const enum reach kind = kind_of(&finder->reach->marking.marks[block]);
	const uint64_t key = hash_word(trail->key, kind);
	size_t at = (size_t)key & mask;

	while (table[at] && table[at]->key != key)
		at = (at + 1) & mask;
	if (!table[at]) {
		table[at] = &ways->all[ways->count++];
		*table[at] = (struct way){.key = key, .kind = kind};
	}
	struct way *way = table[at];
	way->blocks++;
	way->bytes += finder->reach->index.blocks[block].size;
	if (way->step_count == 0 || trail->length < way->step_count) {
		way->block = block;
		way->step_count = trail->length;
	}
}

static int compare_ways(const void *left, const void *right)
{
	const struct way *a = left, *b = right;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->blocks != b->blocks)
		return a->blocks > b->blocks ? -1 : 1;
	return a->steps[0] < b->steps[0] ? -1 : a->steps[0] > b->steps[0];
}

static int compare_ranks(const void *left, const void *right, void *context)
{
	const struct listed_block *blocks = context;
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;
	if (blocks[a].rank != blocks[b].rank)
		return blocks[a].rank < blocks[b].rank ? -1 : 1;
	return a < b ? -1 : a > b;
}

struct way_finder ways_start(struct image_reach *reach)
{
	const size_t count = reach->index.count;
	struct way_finder finder = {.reach = reach,
	                            .trails = xzalloc((count + 1) * sizeof *finder.trails),
	                            .by_rank = xmalloc((count + 1) * sizeof *finder.by_rank)};

	for (size_t i = 0; i < count; i++)
		finder.by_rank[i] = i;
	qsort_r(finder.by_rank, count, sizeof *finder.by_rank, compare_ranks, reach->index.blocks);
	return finder;
}

void ways_end(struct way_finder *finder)
{
	free(finder->trails);
	free(finder->chain);
	free(finder->by_rank);
	*finder = (struct way_finder){0};
}

/* Returns where the blocks of RANK begin in the order of ranks. */
static size_t first_of_rank(const struct way_finder *finder, uint64_t rank)
{
	size_t at;
	BINARY_SEARCH(at, finder->reach->index.count, rank_of(finder, finder->by_rank[at]) < rank);
	return at;
}

struct ways ways_find(struct way_finder *finder, uint64_t rank)
{
	const size_t first = first_of_rank(finder, rank), behind = first_of_rank(finder, rank + 1);
	struct ways ways = {0};
	size_t size = 2;

	while (size < 2 * (behind - first))
		size *= 2;
	struct way **table = xzalloc(size * sizeof *table);
	GROW(ways.all, ways.room, behind - first + 1);
	for (size_t i = first; i < behind; i++)
		add_block(finder, &ways, table, size - 1, finder->by_rank[i]);
	for (size_t i = 0; i < ways.count; i++)
		set_steps(finder->reach, &ways.all[i]);
	if (ways.count > 0)
		qsort(ways.all, ways.count, sizeof *ways.all, compare_ways);
	free(table);
	return ways;
}

void ways_free(struct ways *ways)
{
	for (size_t i = 0; i < ways->count; i++)
		free(ways->all[i].steps);
	free(ways->all);
	*ways = (struct ways){0};
}
