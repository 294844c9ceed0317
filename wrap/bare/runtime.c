/* runtime.c - see runtime.h.  Starts the tracer without an operating system.  This file alone in
 * wrap/bare joins the two halves, wrap/ and report/. */
#include "wrap/runtime/runtime.h"

#include "wrap/bare/bare_arena.h"
#include "report/dump.h"
#include "report/row_order.h"
#include "wrap/leakwrap.h"
#include "wrap/bare/bare_tables.h"
#include "wrap/module/registry.h"
#include "wrap/base/options.h"
#include "wrap/runtime/exit_dump.h"
#include "wrap/runtime/option_table.h"

_Static_assert(sizeof(struct leakwrap_row) <= LEAKWRAP_SCRATCH_PER_SITE,
               "scratch memory of a dump");

static bool started;

bool leakwrap_runtime_enter(void)
{
	if (started)
		return true;
	started = true;
	leakwrap_arena_start();
	leakwrap_dump_start();
	leakwrap_options_read();
	leakwrap_sites_start();
	leakwrap_live_start();
	leakwrap_modules_refresh();
	return true;
}

/* Starts the tracer even if the program never allocates.  An allocation in an earlier constructor
 * has started it already. */
__attribute__((constructor(101))) static void start_with_program(void)
{
	leakwrap_runtime_enter();
}

/* Writes the last dump, for programs that end. */
__attribute__((destructor(101))) static void end_of_program(void)
{
	leakwrap_exit_dump_write();
}

void leakwrap_exit_dump_write(void)
{
	static bool dumped;

	if (started && leakwrap_options.exit && !dumped) {
		dumped = true;
		leakwrap_dump_at_exit(true);
	}
}

/* Returns -1: the program installs the exception handlers in its vector table itself. */
int leakwrap_install_crash_trace(void)
{
	return -1;
}
