/* coverage.c - see coverage.h. */
#include "report/coverage.h"

#include "wrap/module/bypass.h"
#include "wrap/module/loaded.h"
#include "wrap/module/originals.h"
#include "wrap/module/registry.h"

static const char *const reasons[] = {
        [LEAKWRAP_BYPASS_BOUND] = "bound",
        [LEAKWRAP_BYPASS_LIBC_NAME] = "libc_name",
        [LEAKWRAP_BYPASS_OTHER_NAME] = "other_name",
};

static void write_bypass(struct leakwrap_writer *writer, const char *reason, const char *path)
{
	leakwrap_write_text(writer, "bypass ");
	leakwrap_write_text(writer, reason);
	leakwrap_write_text(writer, " path=");
	leakwrap_write_name(writer, path, LEAKWRAP_PATH_LIMIT);
	leakwrap_write_end(writer);
}

/* Weak: NULL when the program has its own wrapper of the function, or was linked without some of
 * the wraps. */
extern const char leakwrap_wraps_are_complete __attribute__((weak));
extern const char leakwrap_malloc_is_ours __attribute__((weak));
extern const char leakwrap_calloc_is_ours __attribute__((weak));
extern const char leakwrap_realloc_is_ours __attribute__((weak));
extern const char leakwrap_free_is_ours __attribute__((weak));

/* Returns true if the program brings a wrapper of its own for a function of the allocator. */
static bool has_own_wrapper(void)
{
	return &leakwrap_wraps_are_complete &&
	       !(&leakwrap_malloc_is_ours && &leakwrap_calloc_is_ours &&
	         &leakwrap_realloc_is_ours && &leakwrap_free_is_ours);
}

void leakwrap_coverage_write(struct leakwrap_writer *writer)
{
	const struct leakwrap_modules *modules = leakwrap_modules();

	leakwrap_write_text(writer, "coverage ");
	leakwrap_write_text(
	        writer, leakwrap_libraries_are_recorded ||
	                                (leakwrap_modules_are_program_alone() && !has_own_wrapper())
	                        ? "process"
	                        : "program");
	leakwrap_write_end(writer);
	if (!leakwrap_libraries_are_recorded)
		return;
	for (unsigned i = 0; i < modules->count; i++) {
		const struct leakwrap_module *module = modules->module[i];
		const enum leakwrap_bypass bypass = leakwrap_bypass_now(module);

		if (bypass != LEAKWRAP_BYPASS_NONE)
			write_bypass(writer, reasons[bypass], module->path);
	}
	if (leakwrap_modules_have_namespaces())
		write_bypass(writer, "namespace", "?");
}
