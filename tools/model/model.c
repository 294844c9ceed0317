/* model.c - see model.h. */
#include "tools/model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- interning ----------------------------------------------------------------------------------- */

struct module_key {
	const char *path, *build_id; /* interned */
};

static bool same_module(const void *key, const void *entry)
{
	const struct module_key *k = key;
	const struct module *module = entry;
	return k->path == module->path && k->build_id == module->build_id;
}

static struct module *add_module(struct report *report, const char *path, const char *build_id)
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

static const struct location *add_location(struct report *report, struct module *module,
                                           const struct parsed_frame *frame)
{
	const struct location_key key = {module, frame->offset,
	                                 intern_text(&report->strings, frame->function), frame->exact};
	uint64_t hash = hash_word((uintptr_t)module, frame->offset);
	hash = hash_word(hash, (uintptr_t)key.own_function);
	struct location *location = table_find(&report->location_table, hash, &key, same_location);
	if (!location) {
		location = arena_alloc(&report->arena, sizeof *location);
		location->module = module;
		location->offset = frame->offset;
		location->own_function = key.own_function;
		location->exact = frame->exact;
		location->own_into = frame->into;
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

static struct stack *make_stack(struct report *report, const struct location **at, size_t depth)
{
	struct stack *stack = arena_alloc(&report->arena, sizeof *stack + depth * sizeof *at);
	stack->depth = (unsigned)depth;
	if (depth)
		memcpy(stack->at, at, depth * sizeof *at);
	return stack;
}

static const struct stack *add_stack(struct report *report, const struct location **at, size_t depth)
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

/* -- a dump -------------------------------------------------------------------------------------- */

/* Which dumps of a log to take. */
struct selection {
	struct report *report;
	uint64_t pid, sequence; /* 0: any */
	size_t seen, taken;     /* dumps */
	uint64_t last_sequence; /* seen */
};

/* Do FRAME's two numbers agree with a bias that MODULE has in DUMP?  It has several when it was unloaded, and loaded again
 * elsewhere. */
static bool frame_fits(const struct dump *dump, const struct module *module,
                       const struct parsed_frame *frame)
{
	bool lies = false;
	for (size_t i = 0; i < dump->mapping_count; i++) {
		if (dump->mappings[i].module != module)
			continue;
		if (frame->address - dump->mappings[i].bias == frame->offset)
			return true;
		lies = true;
	}
	return !lies;
}

static const struct mapping *find_mapping(const struct mapping *mappings, size_t count,
                                          const struct module *module)
{
	for (size_t i = 0; i < count; i++)
		if (mappings[i].module == module)
			return &mappings[i];
	return NULL;
}

/* The mapping among COUNT that FRAME's name and numbers agree with, or NULL. */
static const struct mapping *fitting_mapping(const struct mapping *mappings, size_t count,
                                             const struct parsed_frame *frame)
{
	for (size_t i = 0; i < count; i++)
		if (mappings[i].bias == frame->address - frame->offset &&
		    strcmp(mappings[i].module->name, frame->name) == 0)
			return &mappings[i];
	return NULL;
}

/* Adds to DUMP the module of FRAME, whose line was lost: as it was in an earlier dump of the process, or else
 * with no more than its name and the bias that follows from the frame. */
static const struct mapping *add_lost_mapping(struct report *report, struct dump *dump,
                                              const struct parsed_frame *frame)
{
	const struct mapping *known = NULL;
	for (size_t i = report->dump_count; i-- > 0 && !known;)
		if (report->dumps[i]->pid == dump->pid)
			known = fitting_mapping(report->dumps[i]->mappings,
			                        report->dumps[i]->mapping_count, frame);

	struct mapping *more = arena_alloc(&report->arena, (dump->mapping_count + 1) * sizeof *more);
	if (dump->mapping_count)
		memcpy(more, dump->mappings, dump->mapping_count * sizeof *more);
	dump->mappings = more;
	more += dump->mapping_count++;
	if (known) {
		*more = *known;
	} else {
		const char *path = frame->name;
		if (frame->module == 1 && dump->program && strcmp(base_name(dump->program), path) == 0)
			path = dump->program;
		struct module *module = add_module(report, path, NULL);
		module->main = module->main || frame->module == 1;
		*more = (struct mapping){.module = module, .bias = frame->address - frame->offset};
	}
	return more;
}

static struct module *module_of_frame(struct report *report, const struct parsed_dump *parsed,
                                      struct dump *dump, struct module **modules,
                                      const struct parsed_frame *frame)
{
	if (frame->module == 0)
		return NULL;
	/* The runtime numbers modules without gaps, so the number is nearly always the index. */
	for (size_t i = 0; i < parsed->module_count; i++) {
		size_t at = (frame->module - 1 + i) % parsed->module_count;
		if (parsed->modules[at].number == frame->module)
			return modules[at];
	}
	const struct mapping *lost = fitting_mapping(dump->mappings, dump->mapping_count, frame);
	if (!lost)
		lost = add_lost_mapping(report, dump, frame);
	return add_module(report, lost->module->path, lost->module->build_id);
}

static void copy_mappings(struct report *report, const struct parsed_dump *parsed, struct dump *dump,
                          struct module **modules)
{
	dump->mappings = arena_alloc(&report->arena, parsed->module_count * sizeof *dump->mappings);
	for (size_t i = 0; i < parsed->module_count; i++) {
		const struct parsed_module *module = &parsed->modules[i];
		modules[i] = add_module(report, module->path, module->build_id);
		if (module->number == 1)
			modules[i]->main = true;
		dump->mappings[dump->mapping_count++] =
		        (struct mapping){modules[i], module->start, module->end, module->bias};
	}
}

/* A stack on its way from the parser into the model; the vector is reused. */
struct copied {
	const struct location **at;
	size_t depth, room;
};

/* Copies DEPTH frames from FIRST on, up to one that does not fit its module; false when there is such a
 * one. */
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

/* Does a module lie at several places in DUMP? */
static bool has_moved(const struct dump *dump)
{
	for (size_t i = 0; i < dump->mapping_count; i++)
		if (find_mapping(dump->mappings, i, dump->mappings[i].module))
			return true;
	return false;
}

static const uint64_t *copy_addresses(struct report *report, const struct parsed_frame *frames,
                                      size_t depth)
{
	uint64_t *addresses = arena_alloc(&report->arena, depth * sizeof *addresses);
	for (size_t i = 0; i < depth; i++)
		addresses[i] = frames[i].address;
	return addresses;
}

static void copy_sites(struct report *report, const struct parsed_dump *parsed, struct dump *dump,
                       struct module **modules)
{
	struct copied copied = {0};
	bool moved = has_moved(dump);

	dump->sites = arena_alloc(&report->arena, parsed->site_count * sizeof *dump->sites);
	for (size_t i = 0; i < parsed->site_count; i++) {
		const struct parsed_site *from = &parsed->sites[i];
		struct site *site = &dump->sites[dump->site_count++];

		site->bytes = from->bytes;
		site->blocks = from->blocks;
		site->kind = from->kind;
		site->task = intern_text(&report->strings, from->task);
		site->of_system = from->of_system;
		site->rank = from->rank;
		if (!copy_frames(report, parsed, dump, modules, from->first, from->depth, &copied))
			site->kind = STACK_TRUNCATED;
		site->stack = add_stack(report, copied.at, copied.depth);
		site->addresses =
		        moved && copied.depth > 0
		                ? copy_addresses(report, &parsed->frames[from->first], copied.depth)
		                : NULL;
	}
	free(copied.at);
}

static const struct crash *copy_crash(struct report *report, const struct parsed_dump *parsed,
                                      struct dump *dump, struct module **modules)
{
	struct crash *crash = arena_alloc(&report->arena, sizeof *crash);
	struct fault *fault = &crash->fault;
	struct copied copied = {0};

	*fault = parsed->fault;
	fault->exception = intern_text(&report->strings, fault->exception);
	fault->registers =
	        arena_alloc(&report->arena, fault->register_count * sizeof *fault->registers);
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
	struct misused *misused = arena_alloc(&report->arena, sizeof *misused);
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

static uint64_t dump_hash(const struct dump *dump)
{
	uint64_t hash = hash_word(hash_word(0, dump->pid), dump->sequence);
	hash = hash_word(hash, (uint64_t)dump->seconds);
	for (size_t i = 0; i < dump->site_count; i++) {
		hash = hash_word(hash, dump->sites[i].stack->number);
		hash = hash_word(hash, dump->sites[i].bytes);
		hash = hash_word(hash, dump->sites[i].blocks);
	}
	return hash;
}

static bool same_dump(const void *key, const void *entry)
{
	const struct dump *a = key, *b = entry;
	return a->pid == b->pid && a->sequence == b->sequence && a->time == b->time &&
	       a->program == b->program && a->totals.live_bytes == b->totals.live_bytes &&
	       a->totals.dump_ns == b->totals.dump_ns && a->site_count == b->site_count &&
	       !a->damage == !b->damage;
}

/* Says what is wrong with PARSED: DAMAGE, which showed in line LINE of the log. */
static void tell_damage(const struct parsed_dump *parsed, const char *damage, unsigned long line)
{
	int64_t all = parsed->totals.call_sites;
	size_t read = parsed->site_count;
	if (parsed->misused)
		complain("%s:%lu: dump %lu.%lu is damaged: %s", parsed->log, line, parsed->pid,
		         parsed->sequence, damage);
	else if (all >= 0 && (uint64_t)all > read)
		complain("%s:%lu: dump %lu.%lu is damaged: %s; %zu of its %lld call site%s %s reported",
		         parsed->log, line, parsed->pid, parsed->sequence, damage, read, (long long)all,
		         all == 1 ? "" : "s", read == 1 ? "is" : "are");
	else
		complain("%s:%lu: dump %lu.%lu is damaged: %s; %zu call site%s reported", parsed->log,
		         line, parsed->pid, parsed->sequence, damage, read,
		         read == 1 ? " is" : "s are");
}

static struct dump *copy_dump(struct report *report, const struct parsed_dump *parsed)
{
	struct dump *dump = arena_alloc(&report->arena, sizeof *dump);
	dump->pid = parsed->pid;
	dump->sequence = parsed->sequence;
	dump->reason = parsed->reason;
	dump->time = intern_text(&report->strings, parsed->time);
	/* Empty where the runtime had no memory to find it out. */
	dump->program = intern_text(&report->strings,
	                            parsed->program && *parsed->program ? parsed->program : NULL);
	dump->command = arena_alloc(&report->arena, parsed->command_count * sizeof *dump->command);
	for (size_t i = 0; i < parsed->command_count; i++)
		dump->command[dump->command_count++] =
		        intern_text(&report->strings, parsed->command[i]);
	dump->totals = parsed->totals;
	dump->log = parsed->log;
	dump->line = parsed->line;
	dump->damage = parsed->damage;
	dump->damage_line = parsed->damage_line;
	if (!dump->time || !parse_time(dump->time, &dump->seconds))
		dump->seconds = -1;
	dump->notes = arena_alloc(&report->arena, parsed->note_count * sizeof *dump->notes);
	for (size_t i = 0; i < parsed->note_count; i++)
		dump->notes[dump->note_count++] = intern_text(&report->strings, parsed->notes[i]);

	struct module **modules = xmalloc((parsed->module_count + 1) * sizeof *modules);
	copy_mappings(report, parsed, dump, modules);
	if (parsed->crashed)
		dump->crash = copy_crash(report, parsed, dump, modules);
	if (parsed->misused)
		dump->misuse = copy_misuse(report, parsed, dump, modules);
	copy_sites(report, parsed, dump, modules);
	free(modules);
	return dump;
}

/* A dump that is nothing but a stray line has nothing to report. */
static bool is_empty(const struct parsed_dump *parsed)
{
	return parsed->damage && !parsed->program && parsed->site_count == 0 &&
	       parsed->totals.live_bytes < 0 && !parsed->crashed && !parsed->misused;
}

/* Puts DUMP where it belongs in REPORT, unless it is there already. */
static void add_dump(struct report *report, struct dump *dump)
{
	uint64_t hash = dump_hash(dump);
	const struct dump *known = table_find(&report->dump_table, hash, dump, same_dump);
	if (!dump->misuse)
		report->latest = known ? known : dump;
	if (known) {
		report->duplicates++;
		return;
	}
	table_add(&report->dump_table, hash, dump);
	if (dump->misuse) {
		GROW(report->misuses, report->misuse_room, report->misuse_count + 1);
		report->misuses[report->misuse_count++] = dump;
	} else {
		GROW(report->dumps, report->dump_room, report->dump_count + 1);
		report->dumps[report->dump_count++] = dump;
	}
}

static void take_dump(void *context, const struct parsed_dump *parsed)
{
	struct selection *selection = context;

	selection->seen++;
	selection->last_sequence = parsed->sequence;
	if ((selection->pid && selection->pid != parsed->pid) ||
	    (selection->sequence && selection->sequence != parsed->sequence))
		return;
	if (selection->seen % 64 == 0)
		progress("reading %s: %zu dumps", parsed->log, selection->seen);

	if (is_empty(parsed)) {
		tell_damage(parsed, parsed->damage, parsed->damage_line);
		return;
	}
	struct dump *dump = copy_dump(selection->report, parsed);
	dump->chosen = selection->sequence != 0;
	if (dump->damage)
		tell_damage(parsed, dump->damage, dump->damage_line);
	selection->taken++;
	add_dump(selection->report, dump);
}

/* -- logs ---------------------------------------------------------------------------------------- */

/* Splits "LOG@N" and "LOG@PID:N"; a file that really has such a name is a file. */
static char *split_selector(const char *selector, struct selection *selection)
{
	char *log = xstrdup(selector);
	char *at = strrchr(log, '@');
	if (!at || access(log, F_OK) == 0)
		return log;
	*at++ = '\0';
	char *colon = strchr(at, ':');
	if (colon)
		*colon++ = '\0';
	if ((colon && !parse_number(at, &selection->pid)) ||
	    !parse_number(colon ? colon : at, &selection->sequence) || selection->sequence == 0)
		die("%s: what follows @ is the number of a dump, or PID:NUMBER", selector);
	return log;
}

bool report_add(struct report *report, const char *selector)
{
	struct selection selection = {.report = report};
	char *path = split_selector(selector, &selection);
	bool standard_input = strcmp(path, "-") == 0;
	const char *log = intern_text(&report->strings, path);
	if (standard_input)
		log = "standard input";
	int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	bool fine = false;

	report->latest = NULL;
	free(path);
	if (fd < 0 || !parse_log(fd, log, take_dump, &selection))
		complain("%s: %s", log, strerror(errno));
	else if (selection.seen == 0)
		complain("%s holds no dump", log);
	else if (selection.taken == 0 && selection.sequence)
		complain("%s holds no dump %s; its last is %llu", log, strrchr(selector, '@') + 1,
		         (unsigned long long)selection.last_sequence);
	else if (selection.taken == 0)
		complain("%s holds no dump that can be read", log);
	else
		fine = true;
	if (fd > STDIN_FILENO)
		close(fd);
	progress_done();
	return fine;
}

void report_start(struct report *report)
{
	*report = (struct report){0};
	report->strings.arena = &report->arena;
}

void report_free(struct report *report)
{
	free(report->dumps);
	free(report->misuses);
	free(report->modules);
	free(report->locations);
	free(report->stacks);
	table_free(&report->strings.table);
	table_free(&report->module_table);
	table_free(&report->location_table);
	table_free(&report->stack_table);
	table_free(&report->dump_table);
	arena_free(&report->arena);
}

/* A process of the report: what is known of its latest dump. */
struct process {
	struct dump *last;
};

static bool same_pid(const void *key, const void *entry)
{
	return *(const unsigned long *)key == ((const struct process *)entry)->last->pid;
}

/* Does DUMP come from the process whose dump LAST was met before it?  The same pid may also belong to
 * a later process (in containers every one is pid 1) or to another program that it executed. */
static bool same_process(const struct dump *last, const struct dump *dump)
{
	if (last->program && dump->program && last->program != dump->program)
		return false;
	if (dump->sequence > last->sequence)
		return true;
	/* Counting from 1 again, unless a log gives the dumps of one process out of order. */
	return dump->sequence < last->sequence && dump->log == last->log &&
	       dump->seconds <= last->seconds;
}

void report_finish(struct report *report)
{
	struct table processes = {0}; /* the current one of each pid */

	for (size_t i = 0; i < report->dump_count; i++) {
		struct dump *dump = report->dumps[i];
		uint64_t hash = hash_word(0, dump->pid);
		struct process *process = table_find(&processes, hash, &dump->pid, same_pid);
		bool known = process && same_process(process->last, dump);

		if (!process) {
			process = arena_alloc(&report->arena, sizeof *process);
			process->last = dump;
			table_add(&processes, hash, process);
		}
		dump->process = known ? process->last->process : report->process_count++;
		if (known && dump->sequence < process->last->sequence)
			continue;
		if (known)
			process->last->last = false;
		process->last = dump;
		dump->last = true;
	}
	table_free(&processes);
}

const struct mapping *mapping_of(const struct dump *dump, const struct module *module)
{
	return find_mapping(dump->mappings, dump->mapping_count, module);
}

uint64_t raw_address(const struct dump *dump, const struct location *location)
{
	const struct mapping *mapping = location->module ? mapping_of(dump, location->module) : NULL;
	return location->offset + (mapping ? mapping->bias : 0);
}

/* Subtracts PART from *TOTAL, if the dump has that. */
static void subtract(int64_t *total, uint64_t part)
{
	if (*total >= 0)
		*total = (uint64_t)*total > part ? (int64_t)((uint64_t)*total - part) : 0;
}

/* Adds PART to *TOTAL, which the dump has. */
static void add(int64_t *total, uint64_t part)
{
	uint64_t sum = (uint64_t)*total;
	add_up(&sum, part);
	*total = (int64_t)sum;
}

/* Takes SITE out of the totals of its dump. */
static void leave_out(struct totals *totals, const struct site *site)
{
	subtract(&totals->live_bytes, site->bytes);
	subtract(&totals->live_blocks, site->blocks);
	subtract(&totals->call_sites, 1);
	if (site->kind == STACK_TRUNCATED)
		subtract(&totals->truncated_blocks, site->blocks);
	if (site->kind == STACK_GUESSED)
		subtract(&totals->guessed_blocks, site->blocks);
	add(&totals->left_out_bytes, site->bytes);
	add(&totals->left_out_blocks, site->blocks);
}

/* The share of the live bytes whose stacks are complete is known anew if all call sites are shown.
 * */
static void count_complete(struct dump *dump)
{
	uint64_t all = 0, complete = 0;
	for (size_t i = 0; i < dump->site_count; i++) {
		all += dump->sites[i].bytes;
		if (dump->sites[i].kind == STACK_COMPLETE)
			complete += dump->sites[i].bytes;
	}
	if ((int64_t)all == dump->totals.live_bytes)
		dump->totals.complete_percent = all ? 100.0 * (double)complete / (double)all : -1.0;
}

void leave_out_system_sites(struct report *report)
{
	for (size_t i = 0; i < report->dump_count; i++) {
		struct dump *dump = report->dumps[i];
		struct totals *totals = &dump->totals;
		size_t kept = 0;
		if (totals->left_out_bytes < 0)
			totals->left_out_bytes = 0;
		if (totals->left_out_blocks < 0)
			totals->left_out_blocks = 0;
		for (size_t j = 0; j < dump->site_count; j++) {
			if (dump->sites[j].of_system)
				leave_out(totals, &dump->sites[j]);
			else
				dump->sites[kept++] = dump->sites[j];
		}
		for (size_t j = 0; kept < dump->site_count && j < kept; j++)
			dump->sites[j].rank = j + 1;
		if (kept < dump->site_count) {
			dump->site_count = kept;
			count_complete(dump);
		}
	}
}

uint64_t unsuppressed_bytes(const struct dump *dump)
{
	uint64_t all = 0;
	if (dump->totals.live_bytes >= 0)
		all = (uint64_t)dump->totals.live_bytes;
	else
		for (size_t i = 0; i < dump->site_count; i++)
			all += dump->sites[i].bytes;
	return all > dump->suppressed_bytes ? all - dump->suppressed_bytes : 0;
}

uint64_t unsuppressed_blocks(const struct dump *dump)
{
	uint64_t all = 0;
	if (dump->totals.live_blocks >= 0)
		all = (uint64_t)dump->totals.live_blocks;
	else
		for (size_t i = 0; i < dump->site_count; i++)
			all += dump->sites[i].blocks;
	return all > dump->suppressed_blocks ? all - dump->suppressed_blocks : 0;
}
