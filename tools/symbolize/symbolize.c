/* symbolize.c - see symbolize.h. */
#include "tools/symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "report/system_lists.h"
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/table.h"
#include "tools/elf/traced.h"
#include "tools/symbolize/demangle.h"
#include "tools/symbolize/lines.h"
#include "tools/symbolize/map.h"
#include "tools/symbolize/origin.h"
#include "tools/symbolize/symbols.h"

/* What a look-up of an address needs. */
struct sources {
	struct report *report;
	struct demangler *demangler;
	struct elf_file file;
	struct symbols symbols;
	struct system_lists system;
	struct lines *lines;
	struct map *map;
	struct arena scratch;
};

/* Returns the address of the call before a return address.  A call may be the last instruction of
 * its function, and has another line than the instruction behind it. */
static uint64_t code_address(const struct sources *sources, const struct location *location)
{
	uint64_t address = location->offset;
	if (sources->file.machine == EM_ARM)
		address &= ~UINT64_C(1);
	return location->exact ? address : address - 1;
}

/* Gives LOCATION the name that the dump has for it. */
static void use_own_name(struct report *report, struct demangler *demangler,
                         struct location *location)
{
	location->frames = arena_alloc(&report->arena, sizeof *location->frames);
	location->frames[0].function = demangle(demangler, location->own_function);
	location->frame_count = 1;
}

static void find_location(struct sources *sources, struct location *location)
{
	struct report *report = sources->report;
	struct line_frame found[LINE_FRAMES_MAX];
	const char *unit = NULL;
	uint64_t address = code_address(sources, location);

	unsigned count = sources->lines ? lines_find(sources->lines, address, &sources->scratch,
	                                             found, &unit)
	                                : 0;
	const struct symbol *symbol = symbols_find(&sources->symbols, address);
	if (count == 0) {
		use_own_name(report, sources->demangler, location);
		if (symbol)
			location->frames[0].function = demangle(sources->demangler, symbol->name);
	} else {
		location->frames = arena_alloc(&report->arena, count * sizeof *location->frames);
		location->frame_count = count;
		for (unsigned i = 0; i < count; i++) {
			struct frame *frame = &location->frames[i];
			frame->function = demangle(sources->demangler, found[i].name);
			frame->file = intern_text(&report->strings, found[i].file);
			frame->line = found[i].line;
			frame->inlined = i + 1 < count;
		}
		struct frame *outer = &location->frames[count - 1];
		if (!outer->function && symbol)
			outer->function = demangle(sources->demangler, symbol->name);
	}
	const char *member = sources->map ? map_find(sources->map, address) : NULL;
	if (!member && unit)
		member = base_name(unit);
	if (!member && symbol)
		member = symbol->source;
	location->object = intern_text(&report->strings, member);
	/* If the dump has a name, the runtime has judged by it. */
	location->role = !location->own_function && symbol ? system_role(&sources->system, symbol)
	                                                   : LEAKWRAP_ROLE_PROGRAM;
	arena_reset(&sources->scratch);
}

/* Returns true for pages of the kernel, which have no file. */
static bool is_pseudo(const struct module *module)
{
	return strncmp(module->name, "linux-vdso", 10) == 0 ||
	       strncmp(module->name, "linux-gate", 10) == 0 || module->name[0] == '[';
}

static void report_state(const struct module *module, const struct search *search)
{
	switch (module->state) {
	case MODULE_MISMATCH:
		complain("%s is another build of %s: the dump's build-id is %s; its frames stay "
		         "raw",
		         module->file,
		         strcmp(module->file, module->path) == 0 ? "what was traced" : module->path,
		         module->build_id);
		break;
	case MODULE_MISSING:
		if (!is_pseudo(module))
			complain("%s was not found%s%s%s%s; its frames stay raw%s", module->path,
			         module->build_id ? " (build-id " : "",
			         module->build_id ? module->build_id : "",
			         module->build_id ? ")" : "",
			         search->sysroot ? " under the sysroot" : "",
			         module->main && !search->exe ? " (--exe names its file)" : "");
		break;
	case MODULE_UNVERIFIED:
		complain("%s is not verified: the dump has no build-id of %s", module->file,
		         strcmp(module->file, module->path) == 0 ? "it" : module->path);
		break;
	case MODULE_VERIFIED:
		if (module->main && search->exe && strcmp(module->file, search->exe) != 0)
			complain("%s is another build of %s; %s is taken in its place", search->exe,
			         module->path, module->file);
		break;
	case MODULE_UNREAD:
		break;
	}
}

/* Says if the blocks of static libraries cannot be told from those of the program. */
static void report_origin(const struct sources *sources, const struct module *module)
{
	const struct system_lists *system = &sources->system;
	if (!system->words)
		return;
	if (sources->symbols.count == 0) {
		if (system->program_is_static)
			complain("%s has no symbols: what its C library allocated counts as the "
			         "program's own (--exe names the file with symbols)",
			         module->file);
	} else if (!system_lists_fit(system, &sources->symbols)) {
		complain("%s has another C library than leakwrap was built for: what that "
		         "allocated counts as the program's own (build libleakwrap.a again with "
		         "the compiler that links the program)",
		         module->file);
	}
}

static void symbolize_module(struct report *report, struct demangler *demangler,
                             struct module *module, const struct search *search)
{
	struct sources sources = {.report = report, .demangler = demangler};

	sources.file = elf_file_open(&report->arena, module, search);
	report_state(module, search);
	if (!sources.file.dwfl) {
		for (struct location *l = module->locations; l; l = l->next)
			if (!l->frames)
				use_own_name(report, demangler, l);
		return;
	}
	sources.symbols = symbols_read(&sources.file);
	if (module->main)
		sources.system = system_lists_read(&sources.file);
	report_origin(&sources, module);
	sources.lines = lines_read(&sources.file);
	if (module->main && search->map)
		sources.map = map_read(search->map, &sources.file);

	size_t done = 0;
	for (struct location *l = module->locations; l; l = l->next) {
		if (l->frames)
			continue;
		find_location(&sources, l);
		if (++done % 256 == 0)
			progress("symbolizing %s: %zu of %zu addresses", module->name, done,
			         module->location_count);
	}
	const char *lack = lines_why_lacking(sources.lines, &sources.file, &sources.scratch);
	if (lack)
		complain("%s: its debug information is not whole %s", module->file, lack);
	map_free(sources.map);
	lines_free(sources.lines);
	system_lists_free(&sources.system);
	symbols_free(&sources.symbols);
	elf_file_close(&sources.file);
	arena_free(&sources.scratch);
}

/* Returns true for a function of the tracer.  The backtrace of a release begins there. */
static bool is_own(const struct location *location)
{
	const char *function = location->frames[location->frame_count - 1].function;
	return function && (is_tracers_name(function) || strcmp(function, "releasing") == 0);
}

/* Drops the functions of the tracer.  A program without symbols cannot drop them itself. */
static void drop_own_frames(struct stack *stack)
{
	unsigned own = 0;
	while (own + 1 < stack->depth && is_own(stack->at[own]))
		own++;
	stack->depth -= own;
	memmove(stack->at, stack->at + own, stack->depth * sizeof *stack->at);
}

/* Returns true if a system library made the allocation for itself.  If a function allocates for its
 * caller, the next frame decides. */
static bool is_kept_by_system(const struct stack *stack)
{
	enum leakwrap_system_role role = LEAKWRAP_ROLE_FOR_CALLER;

	for (unsigned i = 0; i < stack->depth && role == LEAKWRAP_ROLE_FOR_CALLER; i++)
		role = stack->at[i]->role;
	return role == LEAKWRAP_ROLE_KEEPS;
}

/* Marks the call sites of system libraries.  A stripped program cannot know them itself. */
static void mark_system_sites(const struct report *report)
{
	for (size_t i = 0; i < report->dump_count; i++) {
		struct dump *dump = report->dumps[i];
		for (size_t j = 0; j < dump->site_count; j++) {
			struct site *site = &dump->sites[j];
			if (!is_kept_by_system(site->stack))
				continue;
			site->origin = ORIGIN_SYSTEM;
			report->stacks[site->stack->number]->origin = origin_names[ORIGIN_SYSTEM];
		}
	}
}

/* Returns true if MODULE has locations without frames.  New ones come first. */
static bool has_new_locations(const struct module *module)
{
	return module->locations && !module->locations->frames;
}

void symbolize(struct report *report, const struct search *search)
{
	struct demangler demangler = {.strings = &report->strings};

	for (size_t i = 0; i < report->module_count; i++)
		if (has_new_locations(report->modules[i]))
			symbolize_module(report, &demangler, report->modules[i], search);
	for (size_t i = 0; i < report->location_count; i++)
		if (!report->locations[i]->frames)
			use_own_name(report, &demangler, report->locations[i]);
	demangler_stop(&demangler);
	for (size_t i = 0; i < report->misuse_count; i++)
		for (unsigned j = 0; j < MISUSE_STACKS; j++)
			if (report->misuses[i]->misuse->stacks[j])
				drop_own_frames(report->misuses[i]->misuse->stacks[j]);
	mark_system_sites(report);
	progress_done();
}
