/* copy_dump.c - see copy_dump.h. */
#include "tools/model/copy_dump.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
#include "tools/model/store.h"

/* Returns false if the address and the offset of FRAME contradict MODULE in DUMP.  A module that
 * was unloaded and loaded again has several biases. */
static bool frame_fits(const struct dump *dump, const struct module *module,
                       const struct parsed_frame *frame)
{
	bool is_mapped = false;
	for (size_t i = 0; i < dump->mapping_count; i++) {
		if (dump->mappings[i].module != module)
			continue;
		if (frame->address - dump->mappings[i].bias == frame->offset)
			return true;
		is_mapped = true;
	}
	return !is_mapped;
}

/* Returns the mapping in DUMP that has the name and the bias of FRAME, or NULL. */
static const struct mapping *mapping_in(const struct dump *dump, const struct parsed_frame *frame)
{
	for (size_t i = 0; i < dump->mapping_count; i++)
		if (dump->mappings[i].bias == frame->address - frame->offset &&
		    strcmp(dump->mappings[i].module->name, frame->name) == 0)
			return &dump->mappings[i];
	return NULL;
}

/* Returns the mapping that an earlier dump of the process PID has for the module of FRAME, or
 * NULL. */
static const struct mapping *earlier_mapping(const struct report *report, unsigned long pid,
                                             const struct parsed_frame *frame)
{
	const struct mapping *known = NULL;
	const struct dump *dump;

	if (report->earlier)
		for (size_t left = report->earlier_count; left-- > 0 && !known;)
			known = mapping_in(report->earlier[left], frame);
	else
		for (dump = latest_with_pid(report, pid); dump && !known; dump = dump->previous)
			known = mapping_in(dump, frame);
	return known;
}

/* Adds to DUMP the module of FRAME, whose line was lost.  An earlier dump of the process may have
 * it.  Otherwise only its name and its bias are known. */
static const struct mapping *add_lost_mapping(struct report *report, struct dump *dump,
                                              const struct parsed_frame *frame)
{
	const struct mapping *known = earlier_mapping(report, dump->pid, frame);

	if (dump->mapping_count == dump->mapping_room) {
		dump->mapping_room = 2 * dump->mapping_room + 1;
		struct mapping *moved =
		        arena_alloc(report->dump_arena, dump->mapping_room * sizeof *moved);
		if (dump->mapping_count)
			memcpy(moved, dump->mappings, dump->mapping_count * sizeof *moved);
		dump->mappings = moved;
	}
	struct mapping *more = &dump->mappings[dump->mapping_count++];
	if (known) {
		*more = *known;
	} else {
		const char *path = frame->name;
		if (frame->module == 1 && dump->program &&
		    strcmp(base_name(dump->program), path) == 0)
			path = dump->program;
		struct module *module = add_module(report, path, NULL);
		module->main = module->main || frame->module == 1;
		*more = (struct mapping){.module = module, .bias = frame->address - frame->offset};
	}
	return more;
}

/* Returns the module that PARSED numbers NUMBER, or NULL if there is none. */
static struct module *module_numbered(const struct parsed_dump *parsed, struct module **modules,
                                      unsigned number)
{
	/* The runtime numbers modules without gaps: the number is nearly always the index. */
	for (size_t i = 0; number != 0 && i < parsed->module_count; i++) {
		size_t at = (number - 1 + i) % parsed->module_count;
		if (parsed->modules[at].number == number)
			return modules[at];
	}
	return NULL;
}

static struct module *module_of_frame(struct report *report, const struct parsed_dump *parsed,
                                      struct dump *dump, struct module **modules,
                                      const struct parsed_frame *frame)
{
	if (frame->module == 0)
		return NULL;
	struct module *module = module_numbered(parsed, modules, frame->module);
	if (module)
		return module;
	const struct mapping *lost = mapping_in(dump, frame);
	if (!lost)
		lost = add_lost_mapping(report, dump, frame);
	return add_module(report, lost->module->path, lost->module->build_id);
}

static void copy_mappings(struct report *report, const struct parsed_dump *parsed,
                          struct dump *dump, struct module **modules)
{
	dump->mappings =
	        arena_alloc(report->dump_arena, parsed->module_count * sizeof *dump->mappings);
	dump->mapping_room = parsed->module_count;
	for (size_t i = 0; i < parsed->module_count; i++) {
		const struct parsed_module *module = &parsed->modules[i];
		modules[i] = add_module(report, module->path, module->build_id);
		if (module->number == 1)
			modules[i]->main = true;
		dump->mappings[dump->mapping_count++] =
		        (struct mapping){modules[i], module->start, module->end, module->bias};
	}
}

/* A stack between the parser and the model.  The vector is reused. */
struct copied {
	const struct location **at;
	size_t depth, room;
};

/* Copies DEPTH frames from FIRST on.  Returns false, and stops, at a frame that contradicts its
 * module. */
static bool copy_frames(struct report *report, const struct parsed_dump *parsed, struct dump *dump,
                        struct module **modules, size_t first, size_t depth, struct copied *copied)
{
	GROW(copied->at, copied->room, depth + 1);
	for (copied->depth = 0; copied->depth < depth; copied->depth++) {
		const struct parsed_frame *frame = &parsed->frames[first + copied->depth];
		struct module *module = module_of_frame(report, parsed, dump, modules, frame);
		if (module && !frame_fits(dump, module, frame)) {
			if (!dump->damage) {
				dump->damage = "an address does not fit its module";
				dump->damage_line = parsed->line;
			}
			return false;
		}
		copied->at[copied->depth] = add_location(report, module, frame);
	}
	return true;
}

/* Returns true if a module lies at several places in DUMP. */
static bool has_moved(const struct dump *dump)
{
	for (size_t i = 0; i < dump->mapping_count; i++)
		if (mapping_of(dump, dump->mappings[i].module) != &dump->mappings[i])
			return true;
	return false;
}

static const uint64_t *copy_addresses(struct report *report, const struct parsed_frame *frames,
                                      size_t depth)
{
	uint64_t *addresses = arena_alloc(report->dump_arena, depth * sizeof *addresses);
	for (size_t i = 0; i < depth; i++)
		addresses[i] = frames[i].address;
	return addresses;
}

static void copy_sites(struct report *report, const struct parsed_dump *parsed, struct dump *dump,
                       struct module **modules)
{
	struct copied copied = {0};
	bool moved = has_moved(dump);

	dump->sites = arena_alloc(report->dump_arena, parsed->site_count * sizeof *dump->sites);
	for (size_t i = 0; i < parsed->site_count; i++) {
		const struct parsed_site *from = &parsed->sites[i];
		struct site *site = &dump->sites[dump->site_count++];

		site->bytes = from->bytes;
		site->blocks = from->blocks;
		site->kind = from->kind;
		site->is_cut = from->kind == STACK_TRUNCATED && from->depth > 0 &&
		               (int64_t)from->depth == parsed->totals.depth;
		site->lacks_frames = from->lacks_frames;
		site->task = intern_text(&report->strings, from->task);
		site->reach = from->reach;
		site->origin = from->origin;
		site->library = module_numbered(parsed, modules, from->origin_module);
		site->estimate = from->estimate;
		site->rank = from->rank;
		if (!copy_frames(report, parsed, dump, modules, from->first, from->depth,
		                 &copied)) {
			site->kind = STACK_TRUNCATED;
			site->lacks_frames = true;
		}
		struct stack *stack = add_stack(report, copied.at, copied.depth);
		stack->origin = site->library ? site->library->path : origin_names[site->origin];
		site->stack = stack;
		site->addresses =
		        moved && copied.depth > 0
		                ? copy_addresses(report, &parsed->frames[from->first], copied.depth)
		                : NULL;
	}
	free(copied.at);
}

static void copy_coverage(struct report *report, const struct parsed_dump *parsed,
                          struct dump *dump)
{
	dump->coverage = parsed->coverage;
	dump->bypasses =
	        arena_alloc(report->dump_arena, parsed->bypass_count * sizeof *dump->bypasses);
	for (size_t i = 0; i < parsed->bypass_count; i++)
		dump->bypasses[dump->bypass_count++] =
		        (struct bypass){intern_text(&report->strings, parsed->bypasses[i].reason),
		                        intern_text(&report->strings, parsed->bypasses[i].path)};
}

static const struct crash *copy_crash(struct report *report, const struct parsed_dump *parsed,
                                      struct dump *dump, struct module **modules)
{
	struct crash *crash = arena_alloc(report->dump_arena, sizeof *crash);
	struct fault *fault = &crash->fault;
	struct copied copied = {0};

	*fault = parsed->fault;
	fault->exception = intern_text(&report->strings, fault->exception);
	fault->task = intern_text(&report->strings, fault->task);
	fault->registers =
	        arena_alloc(report->dump_arena, fault->register_count * sizeof *fault->registers);
	for (size_t i = 0; i < fault->register_count; i++) {
		fault->registers[i] = parsed->fault.registers[i];
		fault->registers[i].name = intern_text(&report->strings, fault->registers[i].name);
	}
	copy_frames(report, parsed, dump, modules, 0, parsed->crash_depth, &copied);
	crash->stack = make_stack(report, copied.at, copied.depth);
	free(copied.at);
	return crash;
}

static struct misused *copy_misuse(struct report *report, const struct parsed_dump *parsed,
                                   struct dump *dump, struct module **modules)
{
	struct misused *misused = arena_alloc(report->dump_arena, sizeof *misused);
	struct misuse *misuse = &misused->misuse;
	struct copied copied = {0};

	*misuse = parsed->misuse;
	misuse->what = intern_text(&report->strings, misuse->what);
	misuse->function = intern_text(&report->strings, misuse->function);
	misuse->maker = intern_text(&report->strings, misuse->maker);
	for (unsigned i = 0; i < MISUSE_STACKS; i++) {
		const struct parsed_frames *frames = &parsed->misuse_frames[i];
		if (!misuse->has[i])
			continue;
		copy_frames(report, parsed, dump, modules, frames->first, frames->depth, &copied);
		misused->stacks[i] = make_stack(report, copied.at, copied.depth);
	}
	free(copied.at);
	return misused;
}

static void copy_failures(struct report *report, const struct parsed_dump *parsed,
                          struct dump *dump, struct module **modules)
{
	struct copied copied = {0};

	dump->injected_failures = parsed->injected_failures;
	dump->failures =
	        arena_alloc(report->dump_arena, parsed->failure_count * sizeof *dump->failures);
	for (size_t i = 0; i < parsed->failure_count; i++) {
		const struct parsed_failure *from = &parsed->failures[i];

		copy_frames(report, parsed, dump, modules, from->frames.first, from->frames.depth,
		            &copied);
		dump->failures[dump->failure_count++] =
		        (struct failure){.stack = add_stack(report, copied.at, copied.depth),
		                         .only_reached = from->only_reached,
		                         .of_system = from->of_system,
		                         .identity = from->identity,
		                         .hits = from->hits,
		                         .bytes = from->bytes};
	}
	free(copied.at);
}

/* Returns a copy of the SIZE bytes at BYTES in ARENA. */
static void *copy_bytes(struct arena *arena, const void *bytes, size_t size)
{
	void *copy = arena_alloc(arena, size);
	if (size > 0)
		memcpy(copy, bytes, size);
	return copy;
}

static const struct block_list *copy_blocks(struct arena *arena, const struct block_list *from)
{
	struct block_list *list = copy_bytes(arena, from, sizeof *from);

	list->own = copy_bytes(arena, from->own, from->own_count * sizeof *from->own);
	list->roots = copy_bytes(arena, from->roots, from->root_count * sizeof *from->roots);
	list->stacks = copy_bytes(arena, from->stacks, from->stack_count * sizeof *from->stacks);
	list->blocks = copy_bytes(arena, from->blocks, from->count * sizeof *from->blocks);
	return list;
}

/* Returns a copy of TEXT, which may be NULL, in ARENA. */
static const char *copy_text(struct arena *arena, const char *text)
{
	return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

struct dump *copy_dump(struct report *report, const struct parsed_dump *parsed)
{
	struct dump *dump = arena_alloc(report->dump_arena, sizeof *dump);
	dump->pid = parsed->pid;
	dump->sequence = parsed->sequence;
	dump->reason = parsed->reason;
	dump->time = copy_text(report->dump_arena, parsed->time);
	/* It is empty if the runtime had no memory for it. */
	dump->program = intern_text(&report->strings,
	                            parsed->program && *parsed->program ? parsed->program : NULL);
	dump->command =
	        arena_alloc(report->dump_arena, parsed->command_count * sizeof *dump->command);
	for (size_t i = 0; i < parsed->command_count; i++)
		dump->command[dump->command_count++] =
		        intern_text(&report->strings, parsed->command[i]);
	dump->totals = parsed->totals;
	if (parsed->totals.left_out_blocks > 0)
		dump->left_out = 1u << ORIGIN_SYSTEM;
	dump->totals.recording_since =
	        copy_text(report->dump_arena, parsed->totals.recording_since);
	dump->totals.mark_time = copy_text(report->dump_arena, parsed->totals.mark_time);
	dump->totals.peak_time = copy_text(report->dump_arena, parsed->totals.peak_time);
	dump->log = parsed->log;
	dump->line = parsed->line;
	dump->damage = parsed->damage;
	dump->damage_line = parsed->damage_line;
	if (!dump->time || !parse_time(dump->time, &dump->seconds))
		dump->seconds = -1;
	dump->uptime = parsed->uptime;
	if (report->keeps_blocks && parsed->blocks.is_listed)
		dump->blocks = copy_blocks(report->dump_arena, &parsed->blocks);
	copy_coverage(report, parsed, dump);
	dump->notes = arena_alloc(report->dump_arena, parsed->note_count * sizeof *dump->notes);
	for (size_t i = 0; i < parsed->note_count; i++)
		dump->notes[dump->note_count++] =
		        arena_copy(report->dump_arena, parsed->notes[i], strlen(parsed->notes[i]));

	struct module **modules = xmalloc((parsed->module_count + 1) * sizeof *modules);
	copy_mappings(report, parsed, dump, modules);
	if (parsed->crashed)
		dump->crash = copy_crash(report, parsed, dump, modules);
	if (parsed->misused)
		dump->misuse = copy_misuse(report, parsed, dump, modules);
	copy_sites(report, parsed, dump, modules);
	copy_failures(report, parsed, dump, modules);
	free(modules);
	return dump;
}
