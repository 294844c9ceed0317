/* loaded.c - questions about the modules that are loaded now.  See modules.h. */
#include "wrap/module/modules.h"

#include "wrap/port/port.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool leakwrap_modules_are_program_alone(void)
{
	const struct leakwrap_modules *modules = leakwrap_modules();
	uintptr_t vdso = (uintptr_t)leakwrap_auxiliary(AT_SYSINFO_EHDR);

	for (unsigned i = 0; i < modules->count; i++)
		if (!modules->module[i]->main && modules->module[i]->start != vdso)
			return false;
	return modules->count > 0;
}

static _Atomic bool has_namespaces;

void leakwrap_modules_note_namespace(void)
{
	atomic_store(&has_namespaces, true);
}

bool leakwrap_modules_have_namespaces(void)
{
	return atomic_load(&has_namespaces);
}

/* Returns true if MODULE is certainly still loaded. */
static bool is_loaded(const struct leakwrap_module *module)
{
	return module->permanent || (module->headers != 0 && leakwrap_module_is_there(module));
}

const struct leakwrap_segment *leakwrap_segment_at(uintptr_t address)
{
	const struct leakwrap_module *module = leakwrap_module_at(address);

	for (unsigned i = 0; module && i < LEAKWRAP_SEGMENTS_MAX; i++) {
		const struct leakwrap_segment *segment = &module->segment[i];

		if (address >= segment->start && address < segment->end)
			return is_loaded(module) ? segment : NULL;
	}
	return NULL;
}
