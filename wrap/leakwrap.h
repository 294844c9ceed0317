/* leakwrap.h - what a program may tell leakwrap, and ask it.  All of it is optional: a program that was
 * merely relinked is traced without a call to any of these.
 *
 * A program that is also built without leakwrap declares the functions weak and asks whether they are
 * there: they are, whenever malloc or another function that allocates is wrapped.  All functions may be
 * called from any thread; "signal-safe" ones from a signal handler, too.
 * None changes errno, unless said otherwise.
 */
#ifndef LEAKWRAP_H
#define LEAKWRAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAKWRAP_API __attribute__((visibility("default")))

/* -- dumps --------------------------------------------------------------------------------------- */

/* Writes a dump of all live blocks to the descriptor FD, or where the option log= says when FD is
 * negative; returns when it is written.  FD stays the caller's and is only written to.
 * Returns 0, or -1 when it could not be written whole (no descriptor that may be used, a full disk, a
 * closed pipe).  Signal-safe. */
LEAKWRAP_API int leakwrap_dump(int fd);

/* What the first lines of a dump tell; leakwrap-dump(5) explains each. */
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

/* Fills *COUNTERS by a walk over the live blocks, which takes as long as that of a dump.  Returns 0, or
 * -1 when there is no memory for it: then live_bytes, live_blocks and call_sites are 0.  What the
 * option system=0 leaves out of dumps is counted here.  Signal-safe. */
LEAKWRAP_API int leakwrap_get_counters(struct leakwrap_counters *counters);

/* -- what is recorded ---------------------------------------------------------------------------- */

/* Blocks that this thread allocates between the two are not shown in dumps.  Calls nest.  Signal-safe. */
LEAKWRAP_API void leakwrap_disable(void);
LEAKWRAP_API void leakwrap_enable(void);

/* The block that starts at BLOCK is not shown in dumps any more.  Returns 0, or -1 when no such block is
 * live.  Signal-safe. */
LEAKWRAP_API int leakwrap_ignore(const void *block);

/* For a pool or an allocator of the program's own: SIZE bytes at BLOCK are live from now on, allocated by
 * the caller of this function; and they are not any more.  The address must not be that of a block which
 * malloc returned.  Signal-safe. */
LEAKWRAP_API void leakwrap_record(const void *block, size_t size);
LEAKWRAP_API void leakwrap_forget(const void *block);

/* -- backtraces ---------------------------------------------------------------------------------- */

/* Stores up to MAX return addresses of the calling function's callers in PCS, innermost first, beginning
 * with the return address of the function that calls this.  Returns how many.  Signal-safe. */
LEAKWRAP_API size_t leakwrap_backtrace(void **pcs, size_t max);

/* The return address of the function that calls this (LEVEL 0), of its caller (1), and so on; NULL past
 * the end of the stack.  Signal-safe. */
LEAKWRAP_API void *leakwrap_return_address(unsigned level);

/* -- crashes ------------------------------------------------------------------------------------- */

/* From now on a program that dies of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT dumps first: with the signal, the
 * registers and the call chain.  The option crash=1 does the same at start.  Threads that have allocated already,
 * or never do, tell an overflow of their stack only if they have an alternate signal stack.  Returns 0, or -1 when the
 * program has a handler for each of these signals. */
LEAKWRAP_API int leakwrap_install_crash_trace(void);

/* -- options ------------------------------------------------------------------------------------- */

/* Defined by the program, if it likes: returns options in the notation of LEAKWRAP_OPTIONS,
 * which those of the link and of the environment override.  Called once, before main and
 * possibly before any constructor; the string must live as long as the program. */
LEAKWRAP_API const char *leakwrap_default_options(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
