/* coverage.c - see coverage.h.
 *
 * The calls of modules that were loaded at the start are looked up anew in each dump: a function is
 * bound when it is called for the first time.  A module that may be unloaded is not read in a dump;
 * the registry has looked at it when it was loaded. */
#include "report/coverage.h"

#include "report/format.h"
#include "wrap/module/bypass.h"
#include "wrap/module/modules.h"
#include "wrap/module/originals.h"

static const char *const reasons[] = {
        [LEAKWRAP_BYPASS_BOUND] = "bound",
        [LEAKWRAP_BYPASS_LIBC_NAME] = "libc_name",
};

static void write_bypass(struct leakwrap_writer *writer, const char *reason, const char *path)
{
	leakwrap_text(writer, "bypass ");
	leakwrap_text(writer, reason);
	leakwrap_text(writer, " path=");
	leakwrap_text_name(writer, path, LEAKWRAP_PATH_LIMIT);
	leakwrap_text_end(writer);
}

void leakwrap_coverage_write(struct leakwrap_writer *writer)
{
	const struct leakwrap_modules *modules = leakwrap_modules();

	leakwrap_text(writer, "coverage ");
	leakwrap_text(writer,
	              leakwrap_libraries_are_recorded || leakwrap_modules_are_program_alone()
	                      ? "process"
	                      : "program");
	leakwrap_text_end(writer);
	if (!leakwrap_libraries_are_recorded)
		return;
	for (unsigned i = 0; i < modules->count; i++) {
		const struct leakwrap_module *module = modules->module[i];
		const enum leakwrap_bypass bypass =
		        module->permanent ? leakwrap_bypass_of(module) : module->bypass;

		/* The program's own calls are wrapped; the tracer in it compares addresses. */
		if (!module->main && bypass != LEAKWRAP_BYPASS_NONE)
			write_bypass(writer, reasons[bypass], module->path);
	}
	if (leakwrap_modules_have_namespaces())
		write_bypass(writer, "namespace", "?");
}
