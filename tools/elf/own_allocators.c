/* own_allocators.c - see own_allocators.h.
 *
 * The search goes from the callers of mmap and sbrk to their callers, and so on, along direct
 * calls.  It ends where a function outside a family calls the family.  A family is the functions
 * with a common prefix, of which one is an allocator.  Its callers are users of the allocator.  The
 * search also ends at functions that never return, as those that raise an error: what they allocate
 * is not what their callers hand out.
 */
#include "tools/elf/own_allocators.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);
	return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* -- names ------------------------------------------------------------------------------------- */

static const struct function *function_named(const struct program *program, const char *name)
{
	for (size_t i = 0; i < program->function_count; i++)
		if (strcmp(program->functions[i].name, name) == 0)
			return &program->functions[i];
	return NULL;
}

/* Returns true if FUNCTION has the name of an allocator, and the program the function that
 * releases.  Then sets *FOUND. */
static bool is_allocator(const struct program *program, const struct function *function,
                         struct own_allocator *found, struct arena *arena)
{
	static const char *const endings[] = {"malloc", "alloc"};
	const char *name = function->name;
	/* jemalloc's PREFIXbootstrap_malloc is for a C library that starts, not for programs. */
	if (!function->global || name[0] == '_' || has_suffix(name, "_bootstrap_malloc") ||
	    strncmp(name, "leakwrap_", 9) == 0 || has_suffix(name, "realloc") ||
	    has_suffix(name, "calloc") || !program_has_code_at(program, function->start))
		return false;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		if (!has_suffix(name, endings[i]))
			continue;
		int prefix = (int)(strlen(name) - strlen(endings[i]));
		const char *release = arena_format(arena, "%.*sfree", prefix, name);
		const struct function *other = function_named(program, release);
		if (!other || !other->global)
			continue;
		*found = (struct own_allocator){.allocate = name, .release = release};
		if (i == 0)
			found->family = arena_format(arena, "%.*s", prefix, name);
		/* Boehm's collector has this name for the start of a collection. */
		found->collects =
		        function_named(program, arena_format(arena, "%.*sgcollect", prefix, name));
		return true;
	}
	return false;
}

/* -- families ---------------------------------------------------------------------------------- */

/* The functions with the prefix of an allocator, and the code that they lie in.  Static functions
 * without the prefix lie among them. */
struct family {
	const char *prefix;
	uint64_t start, end;
};

struct families {
	struct family *all;
	size_t count, room;
};

static bool is_member(const struct family *family, const struct function *function)
{
	return strncmp(function->name, family->prefix, strlen(family->prefix)) == 0;
}

static void add_family(struct families *families, const struct program *program, const char *prefix)
{
	struct family family = {prefix, UINT64_MAX, 0};
	for (size_t i = 0; i < program->function_count; i++) {
		const struct function *function = &program->functions[i];
		if (!is_member(&family, function))
			continue;
		family.start = function->start < family.start ? function->start : family.start;
		family.end = function->end > family.end ? function->end : family.end;
	}
	GROW(families->all, families->room, families->count + 1);
	families->all[families->count++] = family;
}

/* Returns true if CALLER uses the family of CALLEE, and does not belong to it. */
static bool is_use(const struct families *families, const struct function *caller,
                   const struct function *callee)
{
	for (size_t i = 0; i < families->count; i++) {
		const struct family *family = &families->all[i];
		if (is_member(family, callee) && !is_member(family, caller) &&
		    !(caller->start >= family->start && caller->start < family->end))
			return true;
	}
	return false;
}

/* Returns true if PREFIX begins with the prefix of another family. */
static bool is_part_of_family(const struct families *families, const char *prefix)
{
	for (size_t i = 0; i < families->count; i++) {
		size_t length = strlen(families->all[i].prefix);
		if (strlen(prefix) > length &&
		    strncmp(prefix, families->all[i].prefix, length) == 0)
			return true;
	}
	return false;
}

/* -- reach ------------------------------------------------------------------------------------- */

struct search {
	struct program *program;
	bool *never_returns;             /* by function */
	const struct families *families; /* at whose users the search ends, or NULL */
	bool of_functions;               /* the targets' symbols are numbers of functions */
	bool *reaches;                   /* by function */
	struct targets next;
};

/* A call that is the last instruction of a function does not return. */
static void mark_last_call(void *context, uint64_t pc, uint64_t behind, const struct target *target)
{
	struct search *search = context;
	const struct function *caller = program_function_at(search->program, pc);
	if (behind != 0 && caller && behind == caller->end)
		search->never_returns[target->symbol] = true;
}

/* Finds the functions that never return. */
static void find_never_returns(struct search *search)
{
	const struct program *program = search->program;
	struct targets all = {0};

	search->never_returns = xzalloc(program->function_count);
	for (size_t i = 0; i < program->function_count; i++)
		targets_add(&all, program->functions[i].start, i, false);
	calls_find(program->elf, program->machine, &all, mark_last_call, search);
	free(all.all);
	/* Of several names of a function, the first is marked. */
	for (size_t i = 1; i < program->function_count; i++)
		if (program->functions[i].start == program->functions[i - 1].start)
			search->never_returns[i] |= search->never_returns[i - 1];
}

static void mark_caller(void *context, uint64_t pc, uint64_t behind, const struct target *target)
{
	struct search *search = context;
	(void)behind;
	const struct function *caller = program_function_at(search->program, pc);
	if (!caller || !program_has_code_at(search->program, pc))
		return;
	size_t i = (size_t)(caller - search->program->functions);
	if (search->reaches[i] || (search->of_functions && search->never_returns[target->symbol]) ||
	    (search->families && search->of_functions &&
	     is_use(search->families, caller, &search->program->functions[target->symbol])))
		return;
	search->reaches[i] = true;
	targets_add(&search->next, caller->start, i, false);
}

/* Sets in REACHES, by function, who calls SEEDS, directly or through others.  Frees SEEDS. */
static void search_callers(struct search *search, struct targets seeds,
                           const struct families *families, bool *reaches)
{
	const struct program *program = search->program;

	search->families = families;
	search->of_functions = false;
	search->reaches = reaches;
	while (seeds.count) {
		calls_find(program->elf, program->machine, &seeds, mark_caller, search);
		free(seeds.all);
		seeds = search->next;
		search->next = (struct targets){0};
		search->of_functions = true;
	}
}

/* Returns the functions by which memory comes from the system. */
static struct targets system_targets(const struct program *program)
{
	struct targets some = {0};
	for (size_t i = 0; i < program->targets.count; i++) {
		const struct target *target = &program->targets.all[i];
		if (program->entries[target->symbol].system)
			targets_add(&some, target->address, target->symbol, target->slot);
	}
	return some;
}

/* Returns true if the link named NAME as an allocator's. */
static bool is_named(const struct program *program, const char *name)
{
	for (size_t i = 0; i < program->entry_count; i++)
		if (program->entries[i].named && strcmp(program->entries[i].name, name) == 0)
			return true;
	return false;
}

/* Returns all wrappers, and the allocators among CANDIDATES that take memory from the system.  A
 * caller of these hands out their memory. */
static struct targets allocator_targets(const struct program *program, const bool *candidates,
                                        const bool *of_system)
{
	struct targets some = {0};
	for (size_t i = 0; i < program->function_count; i++)
		if (strncmp(program->functions[i].name, "__wrap_", 7) == 0 ||
		    (candidates[i] && of_system[i]))
			targets_add(&some, program->functions[i].start, i, false);
	return some;
}

/* Returns the wrappers of the functions by which a C or C++ program allocates. */
static struct targets malloc_targets(const struct program *program)
{
	static const char *const names[] = {"malloc",        "calloc", "realloc",
	                                    "aligned_alloc", "_Znwm",  "_Znwj"};
	struct targets some = {0};
	for (size_t i = 0; i < program->function_count; i++) {
		const struct function *function = &program->functions[i];
		if (strncmp(function->name, "__wrap_", 7) != 0)
			continue;
		for (size_t j = 0; j < sizeof names / sizeof *names; j++)
			if (strcmp(function->name + 7, names[j]) == 0)
				targets_add(&some, function->start, i, false);
	}
	return some;
}

/* Sets in DIRECT, by function, who itself calls a wrapper that allocates. */
static void find_callers_of_malloc(struct search *search, bool *direct)
{
	struct targets seeds = malloc_targets(search->program);

	search->families = NULL;
	search->of_functions = false;
	search->reaches = direct;
	calls_find(search->program->elf, search->program->machine, &seeds, mark_caller, search);
	free(seeds.all);
	free(search->next.all);
	search->next = (struct targets){0};
}

/* Returns the wrappers of allocators that the user named. */
static struct targets named_targets(const struct program *program)
{
	struct targets some = {0};
	for (size_t i = 0; i < program->function_count; i++) {
		const struct function *function = &program->functions[i];
		if (strncmp(function->name, "__wrap_", 7) == 0 &&
		    is_named(program, function->name + 7))
			targets_add(&some, function->start, i, false);
	}
	return some;
}

bool is_own_allocator(const struct own_allocator *allocator)
{
	return allocator->family && allocator->from_system && !allocator->from_malloc;
}

const char *why_blocks_are_missing(const struct own_allocator *allocator)
{
	if (!allocator->from_system)
		return "no call of malloc is seen in it: if it hands out memory of its own, its "
		       "blocks are not in the report";
	return allocator->from_malloc
	               ? "it calls malloc, and takes memory by mmap or sbrk, too: "
	                 "blocks in that memory are not in the report"
	               : "it takes memory by mmap or sbrk: its blocks are not in the "
	                 "report";
}

/* What is known of each function of a program. */
struct known {
	bool *candidate, *of_system, *of_other, *of_named, *of_malloc;
	struct families families;
};

/* Returns whether one of the COUNT allocators at FOUND has NAME.  A function that each object has a
 * copy of may be found more than once. */
static bool is_found(const struct own_allocator *found, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(found[i].allocate, name) == 0)
			return true;
	return false;
}

/* Adds to FOUND, which has COUNT of ROOM, the allocators that are CERTAIN, or the others.  Returns
 * the new count. */
static size_t add_allocators(const struct program *program, const struct known *known, bool certain,
                             struct own_allocator *found, size_t count, size_t room,
                             struct arena *arena)
{
	struct own_allocator one;

	for (size_t i = 0; i < program->function_count && count < room; i++) {
		const char *name = program->functions[i].name;
		if (!known->candidate[i] || known->of_named[i] ||
		    (!known->of_system[i] && known->of_other[i]) || program_wraps(program, name) ||
		    is_found(found, count, name))
			continue;
		is_allocator(program, &program->functions[i], &one, arena);
		one.from_system = known->of_system[i];
		one.from_malloc = known->of_malloc[i];
		if (is_own_allocator(&one) == certain &&
		    !(one.family && is_part_of_family(&known->families, one.family)))
			found[count++] = one;
	}
	return count;
}

size_t find_own_allocators(struct program *program, struct own_allocator *found, size_t room,
                           struct arena *arena)
{
	size_t functions = program->function_count, count = 0;
	struct search search = {.program = program};
	struct own_allocator one;
	struct known known = {0};
	if (!calls_are_known(program->machine) || functions == 0)
		return 0;
	bool *const all = xzalloc(5 * functions);
	known.candidate = all;
	known.of_system = all + functions;
	known.of_other = all + 2 * functions;
	known.of_named = all + 3 * functions;
	known.of_malloc = all + 4 * functions;
	for (size_t i = 0; i < functions; i++) {
		known.candidate[i] = is_allocator(program, &program->functions[i], &one, arena);
		if (known.candidate[i] && one.family)
			add_family(&known.families, program, one.family);
	}
	find_never_returns(&search);
	search_callers(&search, system_targets(program), &known.families, known.of_system);
	search_callers(&search, allocator_targets(program, known.candidate, known.of_system), NULL,
	               known.of_other);
	search_callers(&search, named_targets(program), NULL, known.of_named);
	find_callers_of_malloc(&search, known.of_malloc);
	count = add_allocators(program, &known, true, found, 0, room, arena);
	count = add_allocators(program, &known, false, found, count, room, arena);
	free(search.never_returns);
	free(known.families.all);
	free(all);
	return count;
}

/* -- calls of the tracer ----------------------------------------------------------------------- */

/* A function, and whether a call of the tracer was found in it. */
struct caller {
	const struct program *program;
	const struct function *function;
	bool found;
};

static void see_tracer_call(void *context, uint64_t pc, uint64_t behind,
                            const struct target *target)
{
	struct caller *caller = context;
	const struct function *function = program_function_at(caller->program, pc);
	(void)behind;
	(void)target;
	if (function && function->start == caller->function->start)
		caller->found = true;
}

bool calls_tracer(const struct program *program, const struct entry *entry)
{
	struct caller caller = {program, program_function_at(program, entry->address), false};
	struct targets tracer = {0};

	if (!calls_are_known(program->machine) || !caller.function ||
	    caller.function->start != entry->address)
		return false;
	for (size_t i = 0; i < program->wrapper_count; i++)
		if (!is_own_wrapper(program, &program->wrappers[i]))
			targets_add(&tracer, program->wrappers[i].address, i, false);
	for (size_t i = 0; i < program->entry_count; i++)
		if (entry_is_exported(&program->entries[i]))
			targets_add(&tracer, program->entries[i].exported, i, false);
	calls_find(program->elf, program->machine, &tracer, see_tracer_call, &caller);
	free(tracer.all);
	return caller.found;
}
