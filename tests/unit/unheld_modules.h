/* unheld_modules.h - stands in for a part of the list of modules: nobody gives snapshots back.  The
 * unit's program includes it once.  It also has the thread's state. */
#ifndef UNHELD_MODULES_H
#define UNHELD_MODULES_H

#include <stdbool.h>

#include "wrap/base/thread.h"
#include "wrap/module/registry.h"

_Thread_local struct leakwrap_thread leakwrap_self;

void leakwrap_modules_hold(const struct leakwrap_modules *modules)
{
	(void)modules;
}

void leakwrap_modules_release(const struct leakwrap_modules *modules)
{
	(void)modules;
}

bool leakwrap_modules_claim_sweep(void)
{
	return false;
}

#endif
