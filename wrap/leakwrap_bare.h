/* leakwrap_bare.h - what a program without an operating system must give to leakwrap, and exception
 * handlers for its use.  leakwrap.h declares the other functions that such a program may call.
 *
 * The program defines the constant structure leakwrap_bare in any of its files.  It has everything
 * that leakwrap needs of the machine.  A program that does not define it does not link.
 */
#ifndef LEAKWRAP_BARE_H
#define LEAKWRAP_BARE_H

#include <stddef.h>
#include <stdint.h>

#include "leakwrap.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A task of an RTOS, filled by the hook "task" below. */
struct leakwrap_bare_task {
	/* The task's handle, different for each task.  NULL: no task runs (before the scheduler).
	 */
	const void *id;

	/* The name that dumps show at the call sites of the task, or NULL.  leakwrap copies it. */
	const char *name;

	/* The first byte of the task's stack, and the end behind its last byte.  With stack_high 0
	 * (not known) backtraces have a single frame. */
	uintptr_t stack_low;
	uintptr_t stack_high;
};

/* A range of memory: its first byte, and the end behind its last byte. */
struct leakwrap_bare_range {
	const void *start, *end;
};

/* The stack of a task, told by the hook "each_stack" below. */
struct leakwrap_bare_stack {
	/* The first byte of the task's stack, and the end behind its last byte. */
	uintptr_t low, high;

	/* The stack pointer of a task that does not run.  The registers of the task lie above it,
	 * or in memory that is a root.  What lies below it is of the past.  0 (not known): the
	 * whole stack counts.  Of the task that runs, the tracer takes the processor's. */
	uintptr_t sp;
};

/* Tells the tracer about STACK, which stays the caller's.  CONTEXT: from the hook's caller. */
typedef void leakwrap_bare_visit_stack(void *context, const struct leakwrap_bare_stack *stack);

/* The code that tells lost from reachable memory. */
struct leakwrap_bare_kinds;
LEAKWRAP_API extern const struct leakwrap_bare_kinds leakwrap_bare_kinds;

struct leakwrap_bare {
	/* The memory of the tracer, aligned to 8 bytes.  It need not be zero.  Nothing else may use
	 * it.  Rule of thumb: 1 KiB, 12 bytes for each block that is live at once, 100 for each
	 * call site. */
	void *memory;
	size_t memory_size;

	/* The number of live blocks to reserve memory for.  0: half of the memory. */
	size_t live_blocks;

	/* Writes SIZE bytes of a dump: to a serial line, a file of the debugger, a buffer.  Lines
	 * end in LF.  Called by the caller of leakwrap_dump, without the lock held, and by the
	 * exception handlers, where it must not wait for an interrupt.  It may allocate. */
	void (*write)(const char *bytes, size_t size);

	/* Excludes all other code that may allocate, for some microseconds at a time.  "lock"
	 * disables interrupts, or takes an RTOS mutex if only tasks allocate and ask for dumps.
	 * "unlock" ends the exclusion; STATE is the result of "lock".  Calls do not nest.  Both
	 * NULL: no other code allocates. */
	uintptr_t (*lock)(void);
	void (*unlock)(uintptr_t state);

	/* Fills *TASK, which is all zero before, for the running task.  NULL: there are no tasks.
	 */
	void (*task)(struct leakwrap_bare_task *task);

	/* Returns a monotonic clock in nanoseconds.  NULL: dumps say that they took 0 ns. */
	uint64_t (*nanoseconds)(void);

	/* Returns the seconds since 1970, UTC.  NULL: dumps say that they were written in 1970. */
	int64_t (*utc)(void);

	/* Runs after the dump of an exception: a reset, a breakpoint.  If it is NULL or returns, an
	 * endless loop follows. */
	void (*after_fault)(void);

	/* The stack of main and of interrupts, used where no task runs: first byte, end. */
	const void *stack_low, *stack_high;

	/* The code: first byte, end behind the last byte.  A value outside is never used as a
	 * return address.  Unwind tables are found by the linker's __exidx_start and __exidx_end.
	 */
	const void *text_start, *text_end;

	/* The ELF note with the build-id (ld --build-id, section .note.gnu.build-id), or NULL. */
	const void *build_id_note;

	/* &leakwrap_bare_kinds: leakwrap_dump, leakwrap_get_kinds and the dump at the end tell lost
	 * from reachable memory (leakwrap-options(7), kinds=).  NULL: they do not, and the program
	 * does not contain the code for it.  While it looks for pointers, the tracer holds the lock
	 * above, and no other code may run: so "lock" must disable interrupts or suspend the
	 * scheduler.  The memory of the tracer gives 5 bytes for each live block and 40 for each
	 * call site meanwhile; where it is too small, the dump says so.  "live_blocks" can then be
	 * at most 57,342. */
	const struct leakwrap_bare_kinds *kinds;

	/* For "kinds", and for dumps with blocks=1, which the tool judges with an image of the
	 * memory: the ROOT_COUNT ranges of memory that may hold pointers, such as .data with .bss.
	 * All of it is read, so it must be memory.  The tracer leaves out its own memory, the heap
	 * below, and the unused part of stacks.  Words at their natural alignment count as
	 * pointers. */
	const struct leakwrap_bare_range *roots;
	size_t root_count;

	/* For "kinds" and blocks=1: the memory of the allocator, of which live blocks are all that
	 * is in use.  It may lie in a root.  Both NULL: not known; free memory in a root keeps
	 * blocks reachable. */
	const void *heap_low, *heap_high;

	/* For "kinds" and blocks=1: calls VISIT with CONTEXT once for the stack of each task, also
	 * of tasks that wait.  NULL: there are no tasks.  The stack of main is known by the members
	 * above.  A dump with blocks=1 calls it without the lock held, and several times. */
	void (*each_stack)(leakwrap_bare_visit_stack *visit, void *context);

	/* The path or name of the program's ELF file on the host.  The leakwrap tool's --exe=
	 * overrides it. */
	const char *program;
};

extern const struct leakwrap_bare leakwrap_bare;

/* -- exception handlers ------------------------------------------------------------------------ */

/* The program may put these handlers into its vector table.  Each writes a dump with reason=crash,
 * the registers and the call chain that leads to the fault, then calls after_fault.  A handler
 * needs stack where the processor gives it some: for the trace what leakwrap-bare(7) says, about
 * 1.5 KB on a Cortex-M3, and what "write" needs. */

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

/* Handles HardFault, MemManage, BusFault and UsageFault.  Runs on the main stack. */
LEAKWRAP_API void leakwrap_bare_hard_fault(void);

#else

/* Handle the exceptions of ARM processors that are not M profile.  They run in the architecture's
 * exception modes.  The program must have set up the banked stack pointers of these modes. */
LEAKWRAP_API void leakwrap_bare_undefined_instruction(void);
LEAKWRAP_API void leakwrap_bare_prefetch_abort(void);
LEAKWRAP_API void leakwrap_bare_data_abort(void);

#endif

#ifdef __cplusplus
}
#endif

#endif
