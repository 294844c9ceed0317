/* one_module.h - stands in for the list of modules: one module, which is never unloaded, has all
 * addresses.  The unit's program includes it once. */
#ifndef ONE_MODULE_H
#define ONE_MODULE_H

#include "unheld_modules.h"

static struct leakwrap_modules snapshot;
static const struct leakwrap_module program = {.is_program = true, .is_permanent = true};
const struct leakwrap_modules *_Atomic leakwrap_modules_current = &snapshot;

const struct leakwrap_module *leakwrap_module_at(uintptr_t address)
{
	(void)address;
	return &program;
}

const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address)
{
	(void)modules;
	return leakwrap_module_at(address);
}

#endif
