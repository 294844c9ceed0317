/* store.c - see store.h. */
#include "tools/model/store.h"

#include <string.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/table.h"

struct module_key {
	const char *path, *build_id; /* interned */
};

static bool same_module(const void *key, const void *entry)
{
	const struct module_key *k = key;
	const struct module *module = entry;
	return k->path == module->path && k->build_id == module->build_id;
}

struct module *add_module(struct report *report, const char *path, const char *build_id)
{
	const struct module_key key = {intern_text(&report->strings, path),
	                               intern_text(&report->strings, build_id)};
	uint64_t hash = hash_word(hash_word(0, (uintptr_t)key.path), (uintptr_t)key.build_id);
	struct module *module = table_find(&report->module_table, hash, &key, same_module);
	if (!module) {
		module = arena_alloc(&report->arena, sizeof *module);
		module->path = key.path;
		module->name = base_name(key.path);
		module->build_id = key.build_id;
		table_add(&report->module_table, hash, module);
		GROW(report->modules, report->module_room, report->module_count + 1);
		report->modules[report->module_count++] = module;
	}
	return module;
}

struct location_key {
	const struct module *module;
	uint64_t offset;
	const char *own_function; /* interned, or NULL */
	bool exact;
};

static bool same_location(const void *key, const void *entry)
{
	const struct location_key *k = key;
	const struct location *location = entry;
	return k->module == location->module && k->offset == location->offset &&
	       k->own_function == location->own_function && k->exact == location->exact;
}

const struct location *add_location(struct report *report, struct module *module,
                                    const struct parsed_frame *frame)
{
	const struct location_key key = {module, frame->offset,
	                                 intern_text(&report->strings, frame->function),
	                                 frame->exact};
	uint64_t hash = hash_word((uintptr_t)module, frame->offset);
	hash = hash_word(hash, (uintptr_t)key.own_function);
	struct location *location = table_find(&report->location_table, hash, &key, same_location);
	if (!location) {
		location = arena_alloc(&report->arena, sizeof *location);
		location->module = module;
		location->offset = frame->offset;
		location->own_function = key.own_function;
		location->exact = frame->exact;
		location->number = (unsigned)report->location_count;
		if (module) {
			location->next = module->locations;
			module->locations = location;
			module->location_count++;
		}
		table_add(&report->location_table, hash, location);
		GROW(report->locations, report->location_room, report->location_count + 1);
		report->locations[report->location_count++] = location;
	}
	return location;
}

struct stack_key {
	const struct location **at;
	size_t depth;
};

static bool same_stack(const void *key, const void *entry)
{
	const struct stack_key *k = key;
	const struct stack *stack = entry;
	return k->depth == stack->depth && memcmp(k->at, stack->at, k->depth * sizeof *k->at) == 0;
}

struct stack *make_stack(struct report *report, const struct location **at, size_t depth)
{
	struct stack *stack = arena_alloc(&report->arena, sizeof *stack + depth * sizeof *at);
	stack->depth = (unsigned)depth;
	if (depth)
		memcpy(stack->at, at, depth * sizeof *at);
	return stack;
}

struct stack *add_stack(struct report *report, const struct location **at, size_t depth)
{
	struct stack_key key = {at, depth};
	uint64_t hash = hash_bytes(0, at, depth * sizeof *at);
	struct stack *stack = table_find(&report->stack_table, hash, &key, same_stack);
	if (!stack) {
		stack = make_stack(report, at, depth);
		stack->number = (unsigned)report->stack_count;
		table_add(&report->stack_table, hash, stack);
		GROW(report->stacks, report->stack_room, report->stack_count + 1);
		report->stacks[report->stack_count++] = stack;
	}
	return stack;
}

/* The dumps of a process id. */
struct same_pid {
	unsigned long pid;
	const struct dump *latest; /* the others by struct dump.previous */
};

static bool has_pid(const void *key, const void *entry)
{
	return *(const unsigned long *)key == ((const struct same_pid *)entry)->pid;
}

static struct same_pid *find_pid(const struct report *report, unsigned long pid)
{
	return table_find(&report->pid_table, hash_word(0, pid), &pid, has_pid);
}

void store_dump(struct report *report, struct dump *dump)
{
	struct same_pid *same = find_pid(report, dump->pid);

	if (!same) {
		same = arena_alloc(&report->arena, sizeof *same);
		same->pid = dump->pid;
		table_add(&report->pid_table, hash_word(0, dump->pid), same);
	}
	dump->previous = same->latest;
	same->latest = dump;
	GROW(report->dumps, report->dump_room, report->dump_count + 1);
	report->dumps[report->dump_count++] = dump;
}

const struct dump *latest_with_pid(const struct report *report, unsigned long pid)
{
	const struct same_pid *same = find_pid(report, pid);

	return same ? same->latest : NULL;
}
