/* fork.c - see fork.h. */
#include "wrap/runtime/fork.h"

#include "report/announce.h"
#include "report/dump.h"
#include "report/elf_symbols.h"
#include "report/unasked.h"
#include "wrap/base/locked_uthash.h"
#include "wrap/base/loss.h"
#include "wrap/base/options.h"
#include "wrap/base/process.h"
#include "wrap/base/thread.h"
#include "wrap/fail/fail.h"
#include "wrap/port/linux_fork.h"
#include "wrap/port/port.h"
#include "wrap/reach/ended_stacks.h"
#include "wrap/runtime/exit_dump.h"
#include "wrap/signal/crash.h"
#include "wrap/signal/dump_signal.h"
#include "wrap/signal/spare_stack.h"
#include "wrap/site/site_age.h"
#include "wrap/site/site_collect.h"
#include "wrap/site/site_peak.h"
#include "wrap/site/young_site.h"
#include "wrap/unwind/stack_bounds.h"
#include "wrap/unwind/walk_shadow.h"

#include <pthread.h>

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
	leakwrap_unlock_after_fork(&leakwrap_tables_lock, false);
}

/* Resets what belongs to the parent process and its threads.  Frees the tables' lock last. */
static void after_fork_in_child(void)
{
	leakwrap_process_reset_in_child();
	leakwrap_exit_dump_reset_in_child();
	leakwrap_thread_set_state(&leakwrap_self, leakwrap_self.disabled ? LEAKWRAP_THREAD_DISABLED
	                                                                 : LEAKWRAP_THREAD_NEW);
	leakwrap_loss_reset_in_child();
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
	if (leakwrap_options.exit && leakwrap_options.children == LEAKWRAP_CHILDREN_OWN) {
		leakwrap_young_sites_settle(true);
		leakwrap_sites_begin_own();
	}
	leakwrap_unlock_after_fork(&leakwrap_tables_lock, true);
}

long leakwrap_fork_traced(void)
{
	long pid;

	before_fork();
	pid = leakwrap_fork_sibling();
	if (pid != 0) {
		after_fork_in_parent();
		return pid;
	}
	after_fork_in_child();
	leakwrap_process_note_record(); /* it dumps also if it calls _exit at once */
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

void leakwrap_fork_watch(void)
{
	/* musl allocates a block for the handlers.  It belongs to the tracer, not to the
	 * program. */
	leakwrap_thread_disable();
	register_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
	leakwrap_thread_enable();
}
