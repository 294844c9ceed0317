/* direct_calls.c - see direct_calls.h. */
#include "tools/elf/direct_calls.h"

#include <string.h>

#include "tools/elf/calls.h"
#include "tools/elf/linkage_tables.h"
#include "tools/elf/traced.h"

/* Returns true if FUNCTION defines an entry, perhaps by another name (--defsym). */
static bool is_of_entry(const struct program *program, const struct function *function)
{
	for (size_t i = 0; i < program->entry_count; i++)
		if (program->entries[i].address == function->start ||
		    strcmp(program->entries[i].name, function->name) == 0)
			return true;
	return false;
}

/* Returns where a call of ENTRY at PC counts, or NULL if it does not count.
 *
 * A static C library also calls the allocator, under other names, inside calls that are wrapped.
 * Code before the tracer and the C library is the program's own, because its objects are linked
 * first.  Code behind them may be the program's too.  There only a call straight to the heap by a
 * public name counts: in glibc only malloc.c does that, and musl's functions use the second names.
 */
static struct callers *callers_of(struct program *program, uint64_t pc,
                                  const struct function *caller, struct entry *entry)
{
	if (entry->system)
		return NULL;
	/* A call between allocating functions is part of a wrapped call. */
	if (caller && (is_tools_name(caller->name) || is_of_entry(program, caller)))
		return NULL;
	/* The objects of the tracer stand together, with objects of the C library only. */
	if (program_has_tracer_at(program, pc))
		return NULL;
	if (program->shared_libc)
		return &entry->direct;
	if (caller && is_part_of_function(caller->name))
		return NULL;
	if (pc < program->own_code && pc < program->library_code)
		return &entry->direct;
	if (!caller || !entry->heap || entry->alias || is_c_librarys(caller->name))
		return NULL;
	return &entry->behind;
}

static void call_found(void *context, uint64_t pc, uint64_t behind, const struct target *target)
{
	(void)behind;
	struct program *program = context;
	struct entry *entry = &program->entries[target->symbol];
	const struct function *caller = program_function_at(program, pc);
	struct callers *callers = callers_of(program, pc, caller, entry);
	struct arena *arena = &program->arena;

	if (!callers)
		return;
	callers->calls++;
	const char *name =
	        caller ? caller->name : arena_format(arena, "0x%llx", (unsigned long long)pc);
	if (callers->last && strcmp(callers->last, name) == 0)
		return;
	callers->last = name;
	if (callers->listed++ == 4)
		callers->names = arena_format(arena, "%s, ...", callers->names);
	if (callers->listed <= 4)
		callers->names =
		        callers->names ? arena_format(arena, "%s, %s", callers->names, name) : name;
}

void find_direct_calls(struct program *program)
{
	/* These are defined here, by a static C library or by the program in its place. */
	for (size_t i = 0; i < program->entry_count; i++)
		if (program->entries[i].address)
			targets_add(&program->targets, program->entries[i].address, i, false);
	if (calls_are_known(program->machine)) {
		linkage_tables_add(program->elf, program->machine, &program->targets);
		calls_find(program->elf, program->machine, &program->targets, call_found, program);
		return;
	}
	for (size_t i = 0; i < program->entry_count; i++) {
		struct entry *entry = &program->entries[i];
		if (entry->imported && !entry->wrapper && !entry->system) {
			entry->direct.calls++;
			entry->direct.names = "a place that is not known";
		}
	}
}
