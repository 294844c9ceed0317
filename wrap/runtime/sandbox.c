/* sandbox.c - see sandbox.h. */
#include "wrap/runtime/sandbox.h"

#include "report/dump.h"
#include "report/line_writer.h"
#include "wrap/arch/arch.h"
#include "wrap/base/options.h"
#include "wrap/base/process.h"
#include "wrap/port/port.h"
#include "wrap/runtime/runtime.h"
#include "wrap/signal/crash.h"
#include "wrap/signal/dump_signal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum message { NO_SIGNAL, NO_DUMP };

/* Added to a message, gives its key among those of call sites (leakwrap_relatives_record_shown). */
#define FIRST_KEY 0x5ec0u

/* Says that FILTER forbids CALL.  Of a family of processes only the first says so: servers start a
 * process in a sandbox for each connection. */
static void report(enum message message, const struct leakwrap_filter *filter, const char *call,
                   const char *consequence)
{
	static _Atomic uint32_t was_given[2]; /* by this process, or its parent before the fork */

	if (!atomic_exchange(&was_given[message], 1) &&
	    leakwrap_relatives_record_shown(FIRST_KEY + message))
		leakwrap_message("a seccomp filter of the program ",
		                 (const char *[]){filter ? "forbids " : "is not known",
		                                  filter ? call : "", ": from now on ", consequence,
		                                  NULL});
}

/* Gives up the dump signal if FILTER forbids what its handler needs, and returns whether it did. */
static bool give_up_dump_signal(const struct leakwrap_filter *filter)
{
	const char *const call = leakwrap_filter_forbidden_for_handlers(filter);

	if (!call || !leakwrap_dump_signal_is_ours(leakwrap_options.signal))
		return false;
	report(NO_SIGNAL, filter, call, "no signal asks for dumps");
	return leakwrap_runtime_release_dump_signal();
}

static void report_lost_dumps(const struct leakwrap_filter *filter)
{
	const bool opens_log = strcmp(leakwrap_options.log, "stderr") != 0;
	const char *const call = leakwrap_filter_forbidden_for_dumps(filter, opens_log);

	if (call && leakwrap_options.exit)
		report(NO_DUMP, filter, call, "a dump may not be written");
}

/* Returns a copy of PROGRAM, which may be NULL.  Returns NULL without memory, or if the filter
 * cannot be asked.  The limit of memory= does not count here: without the copy all is forbidden. */
static struct leakwrap_filter *copy_of(const struct leakwrap_filter_program *program)
{
	const bool is_known = program && LEAKWRAP_ELF_MACHINE != 0;
	const size_t size = is_known ? program->count * sizeof(program->steps[0]) : 0;
	struct leakwrap_filter *const copy =
	        is_known ? leakwrap_scratch_map(sizeof(*copy) + size) : NULL;

	if (copy) {
		memcpy(copy->steps, program->steps, size);
		atomic_store(&copy->count, program->count);
	}
	return copy;
}

struct leakwrap_sandbox leakwrap_sandbox_begin(const struct leakwrap_filter_program *program)
{
	struct leakwrap_sandbox sandbox = {.filter = NULL};
	const int saved = errno;

	leakwrap_runtime_start();
	/* A child of vfork has its parent's memory, but not the parent's filters. */
	if (leakwrap_process_owns_memory()) {
		sandbox.filter = copy_of(program);
		report_lost_dumps(sandbox.filter);
		sandbox.had_dump_signal = give_up_dump_signal(sandbox.filter);
		sandbox.had_crash_trace = leakwrap_filter_forbids_crash_trace(sandbox.filter) &&
		                          leakwrap_crash_release();
		leakwrap_thread_known_id();
		leakwrap_filter_enter(sandbox.filter, leakwrap_process_id());
		sandbox.is_entered = true;
	}
	errno = saved;
	return sandbox;
}

void leakwrap_sandbox_undo(const struct leakwrap_sandbox *sandbox)
{
	const int saved = errno;

	if (sandbox->is_entered)
		leakwrap_filters_withdraw(sandbox->filter);
	if (sandbox->had_dump_signal)
		leakwrap_runtime_take_dump_signal();
	if (sandbox->had_crash_trace)
		leakwrap_crash_install(leakwrap_dump_crash);
	errno = saved;
}
