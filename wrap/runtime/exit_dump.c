/* exit_dump.c - see exit_dump.h. */
#include "wrap/runtime/exit_dump.h"

#include "report/dump.h"
#include "wrap/arch/call_on_stack.h"
#include "wrap/base/c_library.h"
#include "wrap/base/options.h"
#include "wrap/base/process.h"
#include "wrap/base/thread.h"
#include "wrap/module/originals.h"
#include "wrap/port/port.h"
#include "wrap/reach/park.h"
#include "wrap/runtime/shared_object.h"
#include "wrap/signal/crash.h"
#include "wrap/signal/dump_signal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { NOT_STARTED, NO_EXIT_DUMP, WRITING_EXIT_DUMP, EXIT_DUMP_WRITTEN };

/* How long a thread that ends the process waits for another thread's exit dump, in nanoseconds. */
#define EXIT_DUMP_LIMIT 30000000000u

static _Atomic uint32_t exit_dump; /* NOT_STARTED ... */

void leakwrap_exit_dump_start(void)
{
	atomic_store(&exit_dump, NO_EXIT_DUMP);
}

void leakwrap_exit_dump_reset_in_child(void)
{
	atomic_store(&exit_dump, NO_EXIT_DUMP);
}

/* While another thread writes the exit dump, waits until it has ended the process, at most
 * EXIT_DUMP_LIMIT.  Otherwise the process could end while that dump is half written, and with the
 * exit status of this thread. */
static void await_exit_dump(void)
{
	const uint64_t deadline = leakwrap_time_monotonic() + EXIT_DUMP_LIMIT;
	uint32_t state = atomic_load(&exit_dump);

	if (state != WRITING_EXIT_DUMP)
		return;
	/* The dump may park this thread. */
	leakwrap_park_signal_allow(true);
	while ((state == WRITING_EXIT_DUMP || !leakwrap_is_in_shared_object()) &&
	       leakwrap_time_monotonic() <= deadline) {
		leakwrap_wait(&exit_dump, state, EXIT_DUMP_LIMIT / 100);
		state = atomic_load(&exit_dump);
	}
	leakwrap_park_signal_allow(false);
}

/* Returns true if the process must write an exit dump.  Sets *ALL to true if the dump lists all
 * live blocks, and to false if it lists those since the fork only. */
static bool wants_exit_dump(bool *all)
{
	const bool forked = leakwrap_process_is_forked();

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

void leakwrap_exit_dump_write(void)
{
	bool all;
	struct leakwrap_mask before;
	uint32_t none = NO_EXIT_DUMP;
	int saved = errno;

	if (atomic_load(&exit_dump) == NOT_STARTED || !wants_exit_dump(&all) ||
	    !leakwrap_process_owns_memory())
		return;
	/* A handler that exits must not wait for the thread that it interrupted. */
	leakwrap_signals_block(&before);
	if (atomic_compare_exchange_strong(&exit_dump, &none, WRITING_EXIT_DUMP)) {
		leakwrap_park_keep_sleepers(!leakwrap_is_in_shared_object());
		write_exit_dump_beside_thread_memory(all);
		leakwrap_park_allow_release();
		atomic_store(&exit_dump, EXIT_DUMP_WRITTEN);
		leakwrap_wake(&exit_dump);
	} else {
		await_exit_dump();
	}
	leakwrap_signals_restore(&before);
	errno = saved;
}

/* A forked child mostly calls _exit after a failed exec.  It dumps only if it has allocated. */
void leakwrap_exit_dump_write_before__exit(void)
{
	if (!leakwrap_process_is_forked() || leakwrap_process_has_recorded())
		leakwrap_exit_dump_write();
}

/* The function to which the exit dump is attached. */
static void (*_Atomic attached_to)(void);

bool leakwrap_exit_dump_attach(void (*function)(void))
{
	void (*none)(void) = NULL;

	return function && atomic_compare_exchange_strong(&attached_to, &none, function);
}

void (*leakwrap_exit_dump_detach(void))(void)
{
	return atomic_exchange(&attached_to, NULL);
}

bool leakwrap_exit_dump_is_attached(void)
{
	return atomic_load(&attached_to) != NULL;
}

void leakwrap_exit_dump_write_behind(void)
{
	void (*const function)(void) = leakwrap_exit_dump_detach();

	if (function)
		function();
	if (!leakwrap_exit_dump_is_attached())
		leakwrap_exit_dump_write();
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
	leakwrap_exit_dump_write();
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
	return register_dump(&exit_dump);
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
	leakwrap_exit_dump_write();
	if (leakwrap_is_in_shared_object()) {
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
