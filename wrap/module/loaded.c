/* loaded.c - see loaded.h. */
#include "wrap/module/loaded.h"

#include "wrap/base/c_library.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/module/debugger_list.h"
#include "wrap/module/module_records.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"
#include "wrap/module/unlisted.h"
#include "wrap/port/port.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A module that was loaded has left its number behind. */
bool leakwrap_modules_are_program_alone(void)
{
	const struct leakwrap_modules *modules = leakwrap_modules();

	for (unsigned i = 0; i < modules->count; i++)
		if (!modules->module[i]->is_program && !leakwrap_module_is_vdso(modules->module[i]))
			return false;
	return modules->count > 0 && leakwrap_modules_count() == modules->count;
}

/* More modules than a process has.  The list may be changing while it is read. */
#define MODULES_MAX 65536u

/* Copies the entry at FROM.  Returns false if it cannot be read. */
static bool read_entry(struct leakwrap_debugger_entry *entry,
                       const struct leakwrap_debugger_entry *from)
{
	const uintptr_t first = (uintptr_t)from, last = (uintptr_t)(from + 1) - 1;

	if (first % sizeof(first) != 0 || !leakwrap_readable(first) || !leakwrap_readable(last))
		return false;
	*entry = *from;
	return true;
}

/* Returns whether the loaded module with the section DYNAMIC is in the current snapshot. */
static bool is_listed(const ElfW(Dyn) * dynamic)
{
	const struct leakwrap_module *module = leakwrap_module_at((uintptr_t)dynamic);

	return module && module->dynamic == dynamic &&
	       (module->is_permanent || leakwrap_module_is_there(module));
}

/* Returns the first entry of the loader's list for debuggers, or NULL. */
static const struct leakwrap_debugger_entry *first_entry(void)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();
	const struct leakwrap_debugger_list *list =
	        leakwrap_debugger_list(program ? program->dynamic : NULL);

	return list ? list->first : NULL;
}

bool leakwrap_modules_are_listed(void)
{
	const struct leakwrap_debugger_entry *from = first_entry();
	struct leakwrap_debugger_entry entry;

	if (!from)
		return false;
	for (unsigned i = 0; from; i++, from = entry.next)
		if (i == MODULES_MAX || !read_entry(&entry, from) || !is_listed(entry.dynamic))
			return false;
	return true;
}

#ifdef LEAKWRAP_GLIBC

void leakwrap_modules_list_all(void)
{
	const struct leakwrap_debugger_entry *from = first_entry();
	struct leakwrap_debugger_entry entry;

	if (!leakwrap_originals.find_object || !leakwrap_trylock(&leakwrap_tables_lock))
		return;
	leakwrap_unlock(&leakwrap_tables_lock);
	for (unsigned i = 0; from && i < MODULES_MAX && read_entry(&entry, from); i++) {
		if (!is_listed(entry.dynamic))
			leakwrap_modules_list_unseen((uintptr_t)entry.dynamic);
		from = entry.next;
	}
}

#else

void leakwrap_modules_list_all(void)
{
}

#endif

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
	return module->is_permanent || (module->headers != 0 && leakwrap_module_is_there(module));
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

void leakwrap_modules_note_unreadable(uintptr_t start, size_t size)
{
	const struct leakwrap_modules *const modules = leakwrap_modules();

	for (unsigned i = 0; i < modules->count; i++)
		for (unsigned j = 0; j < LEAKWRAP_TEXTS_MAX; j++) {
			struct leakwrap_text *const text =
			        (struct leakwrap_text *)&modules->module[i]->text[j];

			if (start < text->end && text->start < start + size)
				text->is_only_executed = true;
		}
}
