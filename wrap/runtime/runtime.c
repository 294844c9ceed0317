/* runtime.c - connects the recording half (wrap/) and the reporting half (report/) at start,
 * signal, fork and exit. */
#include "wrap/runtime/runtime.h"
#include "wrap/arch/call_on_stack.h"

#include "report/announce.h"
#include "report/command.h"
#include "wrap/base/c_library.h"
#include "wrap/base/loss.h"
#include "wrap/signal/crash.h"
#include "wrap/signal/spare_stack.h"
#include "report/dump.h"
#include "report/elf_symbols.h"
#include "report/unasked.h"
#include "report/failure_writer.h"
#include "wrap/fail/fail.h"
#include "wrap/leakwrap.h"
#include "wrap/live/fast.h"
#include "wrap/live/live.h"
#include "wrap/live/samples.h"
#include "wrap/misuse/misuse.h"
#include "wrap/module/modules.h"
#include "wrap/module/originals.h"
#include "wrap/module/other_code.h"
#include "wrap/base/options.h"
#include "wrap/runtime/option_table.h"
#include "wrap/runtime/recording.h"
#include "wrap/port/linux_fork.h"
#include "wrap/port/port.h"
#include "wrap/reach/ended_stacks.h"
#include "wrap/reach/park.h"
#include "wrap/base/process.h"
#include "wrap/unwind/walk_shadow.h"
#include "wrap/signal/dump_signal.h"
#include "wrap/site/site_age.h"
#include "wrap/site/young_site.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_peak.h"
#include "wrap/site/site_table.h"
#include "wrap/site/stack_cache.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/base/locked_uthash.h"
#include "report/line_writer.h"
#include "wrap/base/thread.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { NOT_STARTED, STARTING, STARTED };

static struct {
	_Atomic int state;
	_Atomic bool forked;        /* this process image began with a fork */
	_Atomic bool has_entered;   /* since the fork, a thread has recorded an allocation */
	_Atomic uint32_t exit_dump; /* NO_EXIT_DUMP ... */
} runtime;

enum { NO_EXIT_DUMP, WRITING_EXIT_DUMP, EXIT_DUMP_WRITTEN };

/* How long a thread that ends the process waits for another thread's exit dump, in nanoseconds. */
#define EXIT_DUMP_LIMIT 30000000000u

static long fork_with_tracer(void);

static const struct leakwrap_fail_hooks fail_hooks = {leakwrap_name_of_function, fork_with_tracer};

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
	return leakwrap_dump_signal_install(leakwrap_options.signal, dump_on_signal, set_on_signal);
}

/* The ELF header of the file that the runtime is part of.  Not all linkers define the symbol. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((weak, visibility("hidden")));

/* Returns true if the runtime is part of a shared object.  Compares its program headers with those
 * of the program (AT_PHDR), which needs no list of modules: there may be no memory for the list.
 * If musl's loader was told to start the program, AT_PHDR holds the loader's own headers.  Then
 * the module of the program decides. */
static bool is_in_shared_object(void)
{
	const uintptr_t own = (uintptr_t)&__ehdr_start, headers = leakwrap_auxiliary(AT_PHDR);
	const struct leakwrap_module *program = leakwrap_module_of_program();

	return own != 0 && headers != 0 && own + __ehdr_start.e_phoff != headers &&
	       !(program && own - program->start < program->end - program->start);
}

/* Starts the tracer.  Blocks signals: a handler must not interrupt a half-started tracer in its
 * own thread. */
static void start(void)
{
	struct leakwrap_mask before;
	int saved = errno;

	leakwrap_signals_block(&before);
	leakwrap_process_start();
	leakwrap_stands_aside = is_in_shared_object() && leakwrap_program_traces_us();
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
	atomic_store(&runtime.state, STARTED);
	leakwrap_signals_restore(&before);
	errno = saved;
}

/* Starts the tracer if no thread has done so.  Returns false while another thread, or an outer
 * call of this thread, is starting it. */
static bool start_once(void)
{
	int state = NOT_STARTED;

	if (atomic_compare_exchange_strong(&runtime.state, &state, STARTING)) {
		start();
		return true;
	}
	return state == STARTED;
}

void leakwrap_runtime_start(void)
{
	if (atomic_load(&runtime.state) == NOT_STARTED)
		start_once();
}

bool leakwrap_runtime_enter(void)
{
	if (!start_once())
		return false;
	atomic_store_explicit(&runtime.has_entered, true, memory_order_relaxed);
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

/* -- fork -------------------------------------------------------------------------------------- */

/* Takes the tables' lock for the fork: no thread of the child would finish a change of the tables
 * that was under way.
 *
 * After this lock, the C library takes the locks of malloc and of all streams.  So a signal
 * handler that has interrupted malloc must not wait for this lock.  A dump and sigaction do not
 * take it; an allocation or a request (leakwrap set, leakwrap mark) in the handler borrows it.
 *
 * The bounds of the stack are found here because in the child this thread looks like the main
 * thread, whose stack lies elsewhere. */
static void before_fork(void)
{
	leakwrap_stack_is_own((uintptr_t)__builtin_frame_address(0));
	leakwrap_lock_for_fork(&leakwrap_tables_lock);
	leakwrap_ended_stacks_before_fork();
	leakwrap_process_before_fork();
}

static void after_fork_in_parent(void)
{
	leakwrap_unlock_in_child(&leakwrap_tables_lock, false);
}

/* Resets what belongs to the parent process and its threads.  Frees the tables' lock last. */
static void after_fork_in_child(void)
{
	leakwrap_process_reset_in_child();
	atomic_store(&runtime.forked, true);
	atomic_store(&runtime.has_entered, false);
	atomic_store(&runtime.exit_dump, NO_EXIT_DUMP);
	leakwrap_thread_set_state(&leakwrap_self, leakwrap_self.disabled ? LEAKWRAP_THREAD_DISABLED
	                                                                 : LEAKWRAP_THREAD_NEW);
	atomic_store(&leakwrap_loss.untracked_blocks, 0);
	atomic_store(&leakwrap_loss.untracked_bytes, 0);
	atomic_store(&leakwrap_loss.untracked_overflows, 0);
	atomic_store(&leakwrap_loss.untracked_samples, 0);
	atomic_store(&leakwrap_loss.lost_call_sites, 0);
	atomic_store(&leakwrap_loss.freed_elsewhere, 0);
	atomic_store(&leakwrap_loss.foreign_frees, 0);
	leakwrap_fail_reset_in_child();
	leakwrap_shadow_reset_in_child();
	leakwrap_crash_reset_in_child();
	leakwrap_spare_stack_reset_in_child();
	leakwrap_dump_reset_in_child();
	leakwrap_symbols_reset_in_child();
	leakwrap_unasked_reset_in_child();
	leakwrap_peak_reset_in_child();
	leakwrap_announce_reset_in_child();
	leakwrap_dump_signal_reset_in_child();
	leakwrap_sites_collect_reset_in_child();
	leakwrap_ended_stacks_reset_in_child();
	leakwrap_park_keep_sleepers(false);
	if (leakwrap_options.exit && leakwrap_options.children == LEAKWRAP_CHILDREN_OWN) {
		leakwrap_young_sites_settle(true);
		leakwrap_sites_begin_own();
	}
	leakwrap_unlock_in_child(&leakwrap_tables_lock, true);
}

/* Forks past the C library, for leakwrap torture.  The program has a single thread. */
static long fork_with_tracer(void)
{
	long pid;

	before_fork();
	pid = leakwrap_fork_sibling();
	if (pid != 0) {
		after_fork_in_parent();
		return pid;
	}
	after_fork_in_child();
	atomic_store(&runtime.has_entered, true); /* it dumps also if it calls _exit at once */
	return 0;
}

#ifndef LEAKWRAP_NO___register_atfork
/* pthread_atfork(3) calls this function; older glibc has pthread_atfork in libpthread only.  The
 * handle removes the handlers if the archive is part of a shared object and the object is
 * unloaded. */
extern int __register_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void),
                             void *object);
extern void *__dso_handle __attribute__((visibility("hidden")));
#define register_atfork(before, in_parent, in_child) \
	__register_atfork(before, in_parent, in_child, &__dso_handle)
#elif !defined(LEAKWRAP_NO_pthread_atfork)
#define register_atfork(before, in_parent, in_child) pthread_atfork(before, in_parent, in_child)
#else
/* Only programs that are linked with the thread library have pthread_atfork. */
#pragma weak pthread_atfork
#define register_atfork(before, in_parent, in_child) \
	(pthread_atfork ? pthread_atfork(before, in_parent, in_child) : 0)
#endif

/* Starts the tracer in programs that do not allocate before main. */
__attribute__((constructor(101))) static void start_with_program(void)
{
	start_once();
	/* In a static program, the first allocation precedes the loader's list. */
	leakwrap_modules_refresh();
	/* musl allocates a block for the handlers.  It belongs to the tracer, not to the
	 * program. */
	leakwrap_thread_disable();
	register_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	leakwrap_thread_enable();
}

/* -- exit -------------------------------------------------------------------------------------- */

/* While another thread writes the exit dump, waits until it has ended the process, at most
 * EXIT_DUMP_LIMIT.  Otherwise the process could end while that dump is half written, and with the
 * exit status of this thread. */
static void await_exit_dump(void)
{
	const uint64_t deadline = leakwrap_time_monotonic() + EXIT_DUMP_LIMIT;
	uint32_t state = atomic_load(&runtime.exit_dump);

	if (state != WRITING_EXIT_DUMP)
		return;
	/* The dump may park this thread. */
	leakwrap_park_signal_allow(true);
	while ((state == WRITING_EXIT_DUMP || !is_in_shared_object()) &&
	       leakwrap_time_monotonic() <= deadline) {
		leakwrap_wait(&runtime.exit_dump, state, EXIT_DUMP_LIMIT / 100);
		state = atomic_load(&runtime.exit_dump);
	}
	leakwrap_park_signal_allow(false);
}

/* Returns true if the process must write an exit dump.  Sets *ALL to true if the dump lists all
 * live blocks, and to false if it lists those since the fork only. */
static bool wants_exit_dump(bool *all)
{
	const bool forked = atomic_load(&runtime.forked);

	*all = !forked || leakwrap_options.children == LEAKWRAP_CHILDREN_ALL;
	return leakwrap_options.exit &&
	       !(forked && leakwrap_options.children == LEAKWRAP_CHILDREN_NONE);
}

/* Bytes of stack that an exit dump may take. */
#define EXIT_STACK ((size_t)256 << 10)

static void write_exit_dump(void *all)
{
	leakwrap_dump_at_exit(*(bool *)all);
}

/* Writes the exit dump.  dietlibc's thread-local variables are in the frame of a function that has
 * called main and has returned.  The dump must not overwrite them, and gets a stack of its own. */
static void write_exit_dump_beside_thread_memory(bool all)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	const bool is_below = sp - (uintptr_t)&leakwrap_self < EXIT_STACK;
	char *stack = is_below ? leakwrap_stack_map(EXIT_STACK) : NULL;

#if LEAKWRAP_HAVE_CALL_ON_STACK
	if (stack) {
		leakwrap_call_on_stack(write_exit_dump, &all, stack + EXIT_STACK);
		return;
	}
#else
	(void)stack;
#endif
	write_exit_dump(&all);
}

#ifdef __dietlibc__
/* Only with this function, dietlibc's exit() calls _exit(), which is wrapped.  It knows no
 * destructors. */
__attribute__((used)) static int (*const links_atexit)(void (*function)(void)) = atexit;
#endif

void leakwrap_runtime_write_exit_dump(void)
{
	bool all;
	struct leakwrap_mask before;
	uint32_t none = NO_EXIT_DUMP;
	int saved = errno;

	if (atomic_load(&runtime.state) != STARTED || !wants_exit_dump(&all) ||
	    !leakwrap_process_owns_memory())
		return;
	/* A handler that exits must not wait for the thread that it interrupted. */
	leakwrap_signals_block(&before);
	if (atomic_compare_exchange_strong(&runtime.exit_dump, &none, WRITING_EXIT_DUMP)) {
		leakwrap_park_keep_sleepers(!is_in_shared_object());
		write_exit_dump_beside_thread_memory(all);
		leakwrap_park_allow_release();
		atomic_store(&runtime.exit_dump, EXIT_DUMP_WRITTEN);
		leakwrap_wake(&runtime.exit_dump);
	} else {
		await_exit_dump();
	}
	leakwrap_signals_restore(&before);
	errno = saved;
}

/* A forked child mostly calls _exit after a failed exec.  It dumps only if it has allocated. */
void leakwrap_runtime_write_dump_before__exit(void)
{
	if (!atomic_load(&runtime.forked) || atomic_load(&runtime.has_entered))
		leakwrap_runtime_write_exit_dump();
}

#ifdef LEAKWRAP_GLIBC
/* Registers a function for exit() (Itanium C++ ABI, 3.3.6.3). */
extern int __cxa_atexit(void (*function)(void *), void *argument, void *module);

static void dump_after_libraries(void *is_first);

/* Registers dump_after_libraries, which exit() will call.  IS_FIRST: NULL if it is registered
 * already.  It is registered for no module, so no module's destructors call it.  Returns false if
 * there is no memory. */
static bool register_dump(void *is_first)
{
	int error;

	leakwrap_thread_disable();
	error = __cxa_atexit(dump_after_libraries, is_first, NULL);
	leakwrap_thread_enable();
	return error == 0;
}

/* Another thread may call exit() meanwhile.  It finds this function registered again, and waits in
 * it for the dump. */
static void dump_after_libraries(void *is_first)
{
	if (is_first)
		register_dump(NULL);
	leakwrap_runtime_write_exit_dump();
}
#endif

/* Has dump_after_libraries called after the destructors of the shared libraries, which free much of
 * the memory that the libraries hold.  Returns false if the C library cannot do so.
 *
 * exit() runs the destructors of all modules as the last of its functions, because the loader
 * registers them before the program starts.  glibc then calls what has been registered meanwhile.
 * musl does not. */
static bool dump_later(void)
{
#ifdef LEAKWRAP_GLIBC
	return register_dump(&runtime);
#else
	return false;
#endif
}

/* Writes the exit dump.  In a shared object, which may be unloaded next, also removes the signal
 * handlers, because they are code of the object. */
static void dump_and_remove_handlers(void)
{
	if (leakwrap_libraries_are_recorded && dump_later())
		return;
	leakwrap_runtime_write_exit_dump();
	if (is_in_shared_object()) {
		leakwrap_dump_signal_release();
		leakwrap_crash_release();
	}
}

/* Destructors run in the reverse order of the array .fini_array (System V ABI, chapter 5,
 * "Initialization and Termination Functions").  The linker sorts the array by section number, so
 * the first entry is called last.  The program's destructor attributes cannot use numbers up to
 * 100. */
__attribute__((section(".fini_array.00000"),
               used)) static void (*const dump_after_destructors)(void) = dump_and_remove_handlers;
