/* runtime.c - connects the recording half (wrap/) and the reporting half (report/) at the start and
 * for signals.  fork.c and exit_dump.c do so at a fork and at the end. */
#include "wrap/runtime/runtime.h"

#include "report/announce.h"
#include "report/command.h"
#include "report/dump.h"
#include "report/elf_symbols.h"
#include "report/line_writer.h"
#include "report/unasked.h"
#include "wrap/base/options.h"
#include "wrap/base/process.h"
#include "wrap/fail/fail.h"
#include "wrap/leakwrap.h"
#include "wrap/live/fast.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/misuse/misuse.h"
#include "wrap/module/originals.h"
#include "wrap/module/other_code.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/runtime/exit_dump.h"
#include "wrap/runtime/fork.h"
#include "wrap/runtime/option_table.h"
#include "wrap/runtime/recording.h"
#include "wrap/runtime/shared_object.h"
#include "wrap/signal/crash.h"
#include "wrap/signal/dump_signal.h"
#include "wrap/site/stack_cache.h"
#include "wrap/unwind/stack_bounds.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { NOT_STARTED, STARTING, STARTED };

static _Atomic int state;

/* Returns the name of the function that the INSTRUCTION is in, or NULL (struct
 * leakwrap_fail_hooks).  Signal-safe. */
static const char *name_of_function(uintptr_t instruction)
{
	const struct leakwrap_module *module = leakwrap_module_ever_at(instruction);
	uintptr_t offset;

	return module ? leakwrap_symbol(module, instruction, &offset) : NULL;
}

static const struct leakwrap_fail_hooks fail_hooks = {name_of_function, leakwrap_fork_traced};

/* -- start ------------------------------------------------------------------------------------- */

static void dump_on_signal(bool wants_kinds, const void *context)
{
	if (leakwrap_process_owns_memory())
		leakwrap_dump_on_signal(wants_kinds, context);
}

/* Changes what is recorded.  Not in a program with raised privileges: the user who started it may
 * send it signals. */
static void set_on_signal(uint32_t value)
{
	if (leakwrap_process_owns_memory() && !leakwrap_process_is_privileged())
		leakwrap_recording_request(value);
}

bool leakwrap_runtime_take_dump_signal(void)
{
	const bool is_taken = leakwrap_dump_signal_install(leakwrap_options.signal, dump_on_signal,
	                                                   set_on_signal);

	leakwrap_announce_signal(is_taken ? leakwrap_options.signal : 0);
	return is_taken;
}

bool leakwrap_runtime_release_dump_signal(void)
{
	const bool is_released = leakwrap_dump_signal_release();

	if (is_released)
		leakwrap_announce_signal(0);
	return is_released;
}

/* Starts the tracer.  Blocks signals: a handler must not interrupt a half-started tracer in its
 * own thread. */
static void start(void)
{
	struct leakwrap_mask before;
	int saved = errno;

	leakwrap_signals_block(&before);
	leakwrap_process_start();
	leakwrap_stands_aside = leakwrap_is_in_shared_object() && leakwrap_program_traces_us();
	/* Find the stack before main: the program may replace the environment that lies above
	 * it. */
	leakwrap_stack_is_own((uintptr_t)__builtin_frame_address(0));
	leakwrap_region_cache_start();
	leakwrap_dump_start();
	if (leakwrap_stands_aside)
		leakwrap_options_stand_aside();
	else
		leakwrap_options_read();
	leakwrap_originals_find();
	if (leakwrap_options.command)
		leakwrap_command_read();
	leakwrap_pages_limit(leakwrap_options.memory);
	if (leakwrap_options.memory != 0)
		leakwrap_samples_reserve();
	leakwrap_modules_set_change_hook(leakwrap_stack_cache_flush);
	leakwrap_other_code_set_change_hook(leakwrap_stack_cache_flush_all);
	leakwrap_modules_refresh();
	if (leakwrap_options.misuse != LEAKWRAP_ON_MISUSE_NOTHING &&
	    !leakwrap_misuse_start(leakwrap_dump_misuse))
		leakwrap_message("no memory to look for misuse", (const char *[]){NULL});
	leakwrap_recording_start();
	if (leakwrap_unasked_start())
		leakwrap_live_set_growth_hook(leakwrap_unasked_check);
	if (!leakwrap_fail_start(&fail_hooks))
		leakwrap_message("no memory or no plan to make allocations fail",
		                 (const char *[]){NULL});
	if (leakwrap_options.signal != 0 && !leakwrap_runtime_take_dump_signal())
		leakwrap_message("no signal asks for dumps: the linker has left out wrappers; "
		                 "leakwrap audit names them, and the flags that bring them back",
		                 (const char *[]){NULL});
	if (leakwrap_options.crash)
		leakwrap_crash_install(leakwrap_dump_crash);
	if (!leakwrap_stands_aside)
		leakwrap_announce();
	leakwrap_libraries_are_recorded =
	        leakwrap_options.libraries && leakwrap_originals.malloc_is_exported;
	leakwrap_exit_dump_start();
	atomic_store(&state, STARTED);
	leakwrap_signals_restore(&before);
	errno = saved;
}

/* Starts the tracer if no thread has done so.  Returns false while another thread, or an outer
 * call of this thread, is starting it. */
static bool start_once(void)
{
	int before = NOT_STARTED;

	if (atomic_compare_exchange_strong(&state, &before, STARTING)) {
		start();
		return true;
	}
	return before == STARTED;
}

void leakwrap_runtime_start(void)
{
	if (atomic_load(&state) == NOT_STARTED)
		start_once();
}

bool leakwrap_runtime_enter(void)
{
	if (!start_once())
		return false;
	leakwrap_process_note_record();
	leakwrap_crash_enter_thread();
	return true;
}

void leakwrap_runtime_report_failure(size_t size)
{
	if (leakwrap_options.dump_at_failure && leakwrap_process_owns_memory())
		leakwrap_unasked_dump_failure(size);
}

int leakwrap_install_crash_trace(void)
{
	start_once();
	return leakwrap_crash_install(leakwrap_dump_crash) > 0 ? 0 : -1;
}

/* Starts the tracer in programs that do not allocate before main. */
__attribute__((constructor(101))) static void start_with_program(void)
{
	start_once();
	/* In a static program, the first allocation precedes the loader's list. */
	leakwrap_modules_refresh();
	leakwrap_fork_watch();
}
