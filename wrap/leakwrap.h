/* leakwrap.h - what a program may tell leakwrap, and ask it.
 *
 * All of it is optional: a program that was merely relinked is traced without a call to any of
 * these.
 *
 * A program that is also built without leakwrap declares the functions weak and tests their
 * addresses.  They are there whenever malloc or another function that allocates is wrapped.
 *
 * All functions may be called from any thread.  Those marked "Signal-safe" may also be called from
 * a signal handler.  None changes errno.
 */
#ifndef LEAKWRAP_H
#define LEAKWRAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAKWRAP_API __attribute__((visibility("default")))

/* -- dumps ------------------------------------------------------------------------------------- */

/* Writes a dump of all live blocks to the descriptor FD and returns when the dump is complete.
 * With a negative FD the dump goes where the option log= says.  FD stays the caller's; it is only
 * written to.  Returns 0, or -1 if the dump could not be written whole: no usable descriptor, a
 * full disk, a closed pipe.  Signal-safe. */
LEAKWRAP_API int leakwrap_dump(int fd);

/* The counters in the first lines of a dump; leakwrap-dump(5) explains each. */
struct leakwrap_counters {
	uint64_t live_bytes;
	uint64_t live_blocks;
	uint64_t call_sites; /* with live blocks */
	uint64_t untracked_blocks;
	uint64_t untracked_bytes;
	uint64_t lost_call_sites;
	uint64_t freed_elsewhere_blocks;
	uint64_t foreign_frees;
	uint64_t tracer_bytes;
};

/* Fills *COUNTERS.  Walks over all live blocks, which takes as long as in a dump, and waits until a
 * dump that is being written is complete.  Counts also what the option system=0 leaves out of
 * dumps.  Returns 0, or -1 if there is no memory for the walk, or another dump takes too long: then
 * live_bytes, live_blocks and call_sites are 0.  Signal-safe. */
LEAKWRAP_API int leakwrap_get_counters(struct leakwrap_counters *counters);

/* The bytes and blocks of live memory of each kind, in the words of the option kinds=.  Their
 * sum is the live memory, less sampled blocks, which have no kind. */
struct leakwrap_kind_counters {
	uint64_t definite_bytes, definite_blocks;   /* no pointer leads to them */
	uint64_t indirect_bytes, indirect_blocks;   /* only lost blocks lead to them */
	uint64_t possible_bytes, possible_blocks;   /* only pointers into them are known */
	uint64_t reachable_bytes, reachable_blocks; /* all others */
	uint64_t pause_ns; /* how long the other threads were stopped, in nanoseconds */
};

/* Finds the kinds of all live blocks now, as a dump with kinds does, and fills *KINDS.  Stops the
 * other threads for a moment, and waits until a dump that is being written is complete.  Counts
 * also what the option system=0 leaves out of dumps.  Returns 0, or -1 if lost memory cannot be
 * told from reachable memory: there is no /proc or no memory, threads do not stop, or another dump
 * takes too long; without an operating system, if leakwrap_bare.h's member "kinds" is NULL.  Then
 * all members are 0.  Signal-safe. */
LEAKWRAP_API int leakwrap_get_kinds(struct leakwrap_kind_counters *kinds);

/* -- what is recorded -------------------------------------------------------------------------- */

/* Hide the blocks that this thread allocates between the two calls: dumps do not show them.  Calls
 * nest.  Signal-safe. */
LEAKWRAP_API void leakwrap_disable(void);
LEAKWRAP_API void leakwrap_enable(void);

/* Hides the live block that starts at BLOCK from later dumps.  Returns 0, or -1 if no live block
 * starts there.  Once blocks have been sampled, returns 0 also for any other address.
 * Signal-safe. */
LEAKWRAP_API int leakwrap_ignore(const void *block);

/* For a pool or an allocator of the program's own.  leakwrap_record declares SIZE bytes at BLOCK
 * live, allocated by the caller of leakwrap_record.  leakwrap_forget declares BLOCK freed.  BLOCK
 * must not be the address of a block that malloc returned.  Signal-safe. */
LEAKWRAP_API void leakwrap_record(const void *block, size_t size);
LEAKWRAP_API void leakwrap_forget(const void *block);

/* A dump that tells lost from reachable memory (option kinds=) looks for pointers in data, stacks,
 * registers and in all memory that the process has mapped.  leakwrap_root declares SIZE more bytes
 * at START, such as pointers in a device's memory.  They are read at each such dump, as far as they
 * can be.  Another call with START changes the size.  leakwrap_unroot ends that.  leakwrap_root
 * returns 0, or -1 if START or SIZE is 0 or there is no memory.  leakwrap_unroot returns 0, or -1
 * if no range begins at START.  Without an operating system both return -1: leakwrap_bare.h has
 * members for roots.  Signal-safe. */
LEAKWRAP_API int leakwrap_root(const void *start, size_t size);
LEAKWRAP_API int leakwrap_unroot(const void *start);

/* -- recording --------------------------------------------------------------------------------- */

/* Turns recording off (ON 0) or on, for all threads.  Blocks that are allocated while it is off are
 * in no dump; frees of recorded blocks are always seen.  The option record=0 begins with recording
 * off.  Returns 0, or -1 if the options misuse= or fail= need every block.  Signal-safe.  Not
 * without an operating system. */
LEAKWRAP_API int leakwrap_set_recording(int on);

/* Records a sample of the blocks that are allocated from now on, one for each INTERVAL bytes on
 * average, at most 1 GiB; 0 records every block.  While recording is off, the interval is for the
 * time after.  Like the option sample=.  Returns 0, or -1 if INTERVAL is too large, or the options
 * misuse= or fail= need every block.  Signal-safe.  Not without an operating system. */
LEAKWRAP_API int leakwrap_set_sample(size_t interval);

/* Marks this time: from now on dumps tell live blocks that were allocated since from older blocks.
 * A new mark replaces the old.  Returns 0.  Returns -1 if the option fail= is given, or if half of
 * all call-site numbers are used: each mark gives new numbers to the call sites that allocate after
 * it.  Signal-safe.  Not without an operating system. */
LEAKWRAP_API int leakwrap_mark(void);

/* -- backtraces -------------------------------------------------------------------------------- */

/* Stores up to MAX return addresses in PCS, innermost first.  The first is the return address of
 * the function that calls leakwrap_backtrace.  Returns the number stored.  Signal-safe. */
LEAKWRAP_API size_t leakwrap_backtrace(void **pcs, size_t max);

/* Returns the return address of the calling function (LEVEL 0), of its caller (LEVEL 1), and so on.
 * Returns NULL past the end of the stack.  Signal-safe. */
LEAKWRAP_API void *leakwrap_return_address(unsigned level);

/* -- crashes ----------------------------------------------------------------------------------- */

/* Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP and SIGABRT.  A program that dies
 * of one of them writes a dump first, with the signal, the registers and the call chain.  The
 * option crash=1 installs the handlers at start.
 *
 * A thread needs an alternate signal stack to report an overflow of its own stack.  Threads that
 * have allocated already, or never allocate, do so only if they have such a stack themselves.
 *
 * Returns 0, or -1 if the program has a handler for each of these signals. */
LEAKWRAP_API int leakwrap_install_crash_trace(void);

/* -- failures ---------------------------------------------------------------------------------- */

/* Makes the next COUNT allocations of the calling thread fail, as they fail without memory: malloc
 * and most others return NULL with errno ENOMEM, posix_memalign returns ENOMEM, operator new calls
 * the new handler and throws std::bad_alloc.  COUNT 0 ends it early.  Allocations between
 * leakwrap_disable and leakwrap_enable do not fail, and do not count.  The option fail= chooses
 * allocations without a call.  Signal-safe.  Not without an operating system. */
LEAKWRAP_API void leakwrap_fail_next(unsigned count);

/* -- options ----------------------------------------------------------------------------------- */

/* The program may define this function.  It returns options in the notation of LEAKWRAP_OPTIONS.
 * Options of the link and of the environment override them.  Called once, before main and possibly
 * before any constructor.  The string must live as long as the program. */
LEAKWRAP_API const char *leakwrap_default_options(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
