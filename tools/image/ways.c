/* ways.c - see ways.h. */
#include "tools/image/ways.h"

#include <stdlib.h>
#include <string.h>

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

struct finder {
	struct image_reach *reach;
	struct trail *trails; /* by block */
	size_t *chain;        /* blocks whose trails are not known yet */
	size_t chain_room;
};

/* -- roots ------------------------------------------------------------------------------------- */

static bool is_declared(const struct block_list *list, uint64_t address)
{
	for (size_t i = 0; i < list->root_count; i++)
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

static uint64_t rank_of(const struct finder *finder, size_t block)
{
	return finder->reach->index.blocks[block].rank;
}

/* Finds the trail of BLOCK, and those of the blocks before it. */
static const struct trail *find_trail(struct finder *finder, size_t block)
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

/* Sets the steps of WAY to those that lead to BLOCK. */
static void set_steps(const struct finder *finder, struct way *way, size_t block, size_t length)
{
	way->steps = xrealloc(way->steps, length * sizeof *way->steps);
	way->step_count = length;
	for (size_t i = length; i > 0; i--, block = finder->reach->marking.marks[block].from)
		way->steps[i - 1] = block;
}

/* Adds BLOCK to the ways that are known by TABLE. */
static void add_block(struct finder *finder, struct ways *ways, struct way **table, size_t mask,
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
	if (way->step_count == 0 || trail->length < way->step_count)
		set_steps(finder, way, block, trail->length);
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

struct ways ways_find(struct image_reach *reach, uint64_t rank)
{
	const struct block_index *index = &reach->index;
	struct finder finder = {.reach = reach,
	                        .trails = xzalloc((index->count + 1) * sizeof *finder.trails)};
	struct ways ways = {0};
	size_t count = 0, size = 2;

	for (size_t i = 0; i < index->count; i++)
		count += index->blocks[i].rank == rank && !index->blocks[i].is_ignored;
	while (size < 2 * count)
		size *= 2;
	struct way **table = xzalloc(size * sizeof *table);
	GROW(ways.all, ways.room, count + 1);
	for (size_t i = 0; i < index->count; i++)
		if (index->blocks[i].rank == rank && !index->blocks[i].is_ignored)
			add_block(&finder, &ways, table, size - 1, i);
	for (size_t i = 0; i < ways.count; i++)
		ways.all[i].root = root_of(reach, ways.all[i].steps[0]);
	if (ways.count > 0)
		qsort(ways.all, ways.count, sizeof *ways.all, compare_ways);
	free(table);
	free(finder.chain);
	free(finder.trails);
	return ways;
}

void ways_free(struct ways *ways)
{
	for (size_t i = 0; i < ways->count; i++)
		free(ways->all[i].steps);
	free(ways->all);
	*ways = (struct ways){0};
}
