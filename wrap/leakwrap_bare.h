/* leakwrap_bare.h - what a program without an operating system gives to leakwrap, and the exception handlers that
 * it may take from it.  leakwrap.h says what else such a program may call.
 *
 * The program defines leakwrap_bare, one constant structure, in any of its files; everything that leakwrap
 * needs of the machine is there.  A program that does not define it does not link.
 */
#ifndef LEAKWRAP_BARE_H
#define LEAKWRAP_BARE_H

#include <stddef.h>
#include <stdint.h>

#include "leakwrap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A task of an RTOS, as the hook "task" below tells it. */
struct leakwrap_bare_task {
	const void *id; /* tells tasks apart: the handle.  NULL: no task runs (before the scheduler) */
	const char *name;    /* shown at the call sites of the task, which is copied; or NULL */
	uintptr_t stack_low; /* the first byte of its stack */
	uintptr_t
	        stack_high; /* behind the last one; 0 when not known: then backtraces have one frame */
};

struct leakwrap_bare {
	/* The memory of the tracer, aligned to 8 bytes; it need not be zero.  Nothing else may use it.  As a rule
	 * of thumb 12 bytes for each block that is live at once, 100 for each call site, and 1 KiB. */
	void *memory;
	size_t memory_size;

	/* How many live blocks it shall have room for; 0: half of the memory is used for them. */
	size_t live_blocks;

	/* Writes SIZE bytes of a dump: to a serial line, a file of the debugger, a buffer.  Called without the lock
	 * held, from whoever calls leakwrap_dump, and from the exception handlers: there it must not wait for an
	 * interrupt.  It may allocate.  Lines end in LF. */
	void (*write)(const char *bytes, size_t size);

	/* Keeps all others that may allocate out, for some microseconds at a time, and lets them in again with what
	 * the first one returned: interrupts are disabled, or an RTOS mutex is taken, when tasks alone allocate and
	 * ask for dumps.  Calls do not nest.  NULL, both: nobody else allocates. */
	uintptr_t (*lock)(void);
	void (*unlock)(uintptr_t state);

	/* Fills *TASK for the running task; it comes as all zero.  NULL: there are no tasks. */
	void (*task)(struct leakwrap_bare_task *task);

	/* A clock that only goes up, in nanoseconds; and the seconds since 1970, UTC.  NULL: there is none, and a dump
	 * took 0 ns, or was written in 1970. */
	uint64_t (*nanoseconds)(void);
	int64_t (*utc)(void);

	/* What follows the trace of an exception: a reset, a breakpoint.  NULL, or when it returns: an endless loop. */
	void (*after_fault)(void);

	/* The stack that is used where no task runs: main's and that of interrupts. */
	const void *stack_low, *stack_high;

	/* The code: the first byte, and behind the last one.  What lies outside is never taken for a return address.
	 * Unwind tables are found by the linker's __exidx_start and __exidx_end. */
	const void *text_start, *text_end;

	/* The ELF note with the build-id (ld --build-id, section .note.gnu.build-id), or NULL. */
	const void *build_id_note;

	/* The path of the program's ELF file on the host, or its name; the leakwrap tool's --exe= overrides it. */
	const char *program;
};

extern const struct leakwrap_bare leakwrap_bare;

/* -- exception handlers --------------------------------------------------------------------------------
 * The program puts them into its vector table, if it likes.  Each writes a dump with reason=crash, the registers
 * and the call chain that leads to the fault, then calls after_fault.  They need some 1,300 bytes of the stack that the
 * processor gives them, and whatever "write" needs. */

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

/* For HardFault, and as well for MemManage, BusFault and UsageFault.  Runs on the main stack. */
LEAKWRAP_API void leakwrap_bare_hard_fault(void);

#else

/* In the ARM architecture's exception modes, whose banked stack pointers the program has set up. */
LEAKWRAP_API void leakwrap_bare_undefined_instruction(void);
LEAKWRAP_API void leakwrap_bare_prefetch_abort(void);
LEAKWRAP_API void leakwrap_bare_data_abort(void);

#endif

#ifdef __cplusplus
}
#endif

#endif
