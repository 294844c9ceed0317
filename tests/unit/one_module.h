/* one_module.h - the modules, for units that run without them: one module that is never unloaded
 * has all addresses.  Included once, by the unit's program. */
#ifndef ONE_MODULE_H
#define ONE_MODULE_H

#include <stdbool.h>

#include "wrap/base/thread.h"
#include "wrap/module/modules.h"

_Thread_local struct leakwrap_thread leakwrap_self;

static struct leakwrap_modules snapshot;
static const struct leakwrap_module program = {.main = true, .permanent = true};
const struct leakwrap_modules *_Atomic leakwrap_modules_current = &snapshot;

void leakwrap_modules_hold(const struct leakwrap_modules *modules)
{
	(void)modules;
}

void leakwrap_modules_release(const struct leakwrap_modules *modules)
{
	(void)modules;
}

bool leakwrap_modules_are_many(void)
{
	return false;
}

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
