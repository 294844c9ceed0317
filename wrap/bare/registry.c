/* registry.c - see registry.h, module_records.h and module.h.  Without a loader the program is the
 * only module. */
#include "wrap/module/registry.h"

#include "wrap/leakwrap_bare.h"
#include "wrap/module/module_records.h"

#include <string.h>

/* Linker scripts define these, the default script too (EHABI, "Linking"). */
extern const char __exidx_start[] __attribute__((weak));
extern const char __exidx_end[] __attribute__((weak));

static struct leakwrap_module program;

static struct {
	struct leakwrap_modules modules;
	const struct leakwrap_module *module;
} snapshot = {.modules = {0}};

const struct leakwrap_modules *_Atomic leakwrap_modules_current = &snapshot.modules;

/* Copies the build-id from NOTE, which may be NULL.  An ELF note is three words, the name and the
 * description; name and description are padded to four bytes (System V ABI, chapter 5, "Note
 * Section"). */
static void read_build_id(const uint32_t *note)
{
	size_t name = note ? (note[0] + 3) & ~(size_t)3 : 0;

	if (!note || note[1] > sizeof(program.build_id))
		return;
	program.build_id_size = (unsigned char)note[1];
	memcpy(program.build_id, (const char *)(note + 3) + name, note[1]);
}

void leakwrap_modules_refresh(void)
{
	uintptr_t tables = (uintptr_t)__exidx_start, tables_end = (uintptr_t)__exidx_end;

	if (program.number != 0)
		return;
	program.start = program.text[0].start = (uintptr_t)leakwrap_bare.text_start;
	program.end = program.text[0].end = (uintptr_t)leakwrap_bare.text_end;
	if (tables_end > tables) {
		program.exidx = __exidx_start;
		program.exidx_size = tables_end - tables;
		/* The unwind entries lie next to the code or to the index. */
		program.tables_start = tables < program.start ? tables : program.start;
		program.tables_end = tables_end > program.end ? tables_end : program.end;
	}
	read_build_id(leakwrap_bare.build_id_note);
	program.path = leakwrap_bare.program ? leakwrap_bare.program : "";
	program.is_program = program.is_permanent = true;
	program.number = 1;
	snapshot.module = &program;
	snapshot.modules.count = 1;
}

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	return address - program.start < program.end - program.start ? &program : NULL;
}

const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address)
{
	(void)modules;
	return leakwrap_module_at(address);
}

const struct leakwrap_module *leakwrap_module_ever_at(uintptr_t address)
{
	return leakwrap_module_at(address);
}

bool leakwrap_module_is_there(const struct leakwrap_module *module)
{
	(void)module;
	return true;
}

unsigned leakwrap_modules_count(void)
{
	return snapshot.modules.count;
}

const struct leakwrap_module *leakwrap_module_numbered(unsigned number)
{
	return number == program.number ? &program : NULL;
}

const struct leakwrap_module *leakwrap_module_of_program(void)
{
	return leakwrap_module_numbered(1);
}

unsigned leakwrap_modules_generation(void)
{
	return 0;
}
