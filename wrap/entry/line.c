/* line.c - the C library's functions that read a line into a growing buffer of the caller.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in place of <symbol>.  A call that fails may have allocated. */
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "wrap/base/c_library.h"
#include "wrap/entry/define.h"

/* The lowest address that CAPACITY may have.  Many old programs define their own function
 * int getline(char *line, int limit), and --wrap redirects its calls here.  Such a limit is lower
 * than any mapped address (/proc/sys/vm/mmap_min_addr). */
#ifdef LEAKWRAP_BARE
#define LOWEST_POINTER 1
#else
#define LOWEST_POINTER 32768
#endif

/* Defines the wrapper of a function that reads into *LINE, which has *CAPACITY bytes. */
#define READ_LINE(name, parameters, arguments)                                             \
	ENTRY_DECLARE(ssize_t, name, parameters);                                          \
	ssize_t __wrap_##name parameters                                                   \
	{                                                                                  \
		if (!line || (uintptr_t)capacity < LOWEST_POINTER)                         \
			return __real_##name arguments;                                    \
		ENTRY_PASS_ON_FIRST(__real_##name arguments)                               \
		struct leakwrap_attempt attempt = {.guard = 0};                            \
		/* Without a buffer the call certainly allocates. */                       \
		if (entry_may_fail() && !BUFFER &&                                         \
		    leakwrap_begin_attempt(&attempt, 0, LEAKWRAP_CALLER))                  \
			return -1;                                                         \
		struct leakwrap_replacement old =                                          \
		        leakwrap_begin_replacement(BUFFER, *capacity, LEAKWRAP_CALLER.sp); \
		ssize_t read = __real_##name arguments;                                    \
		leakwrap_end_attempt(&attempt);                                            \
		leakwrap_end_replacement(old, BUFFER, *capacity, LEAKWRAP_CALLER);         \
		return read;                                                               \
	}

/* The buffer that the call may replace.  If *CAPACITY is 0, glibc ignores *LINE and leaves the old
 * buffer to the program, even if it fails before it allocates a new buffer.  musl resizes it. */
#ifdef LEAKWRAP_GLIBC
#define BUFFER (*capacity ? *line : NULL)
#else
#define BUFFER (*line)
#endif

#ifdef LEAKWRAP_ENTRY_getline
READ_LINE(getline, (char **line, size_t *capacity, FILE *stream), (line, capacity, stream))
#endif

#ifdef LEAKWRAP_ENTRY_getdelim
READ_LINE(getdelim, (char **line, size_t *capacity, int end, FILE *stream),
          (line, capacity, end, stream))
#endif

#ifdef LEAKWRAP_ENTRY___getdelim
READ_LINE(__getdelim, (char **line, size_t *capacity, int end, FILE *stream),
          (line, capacity, end, stream))
#endif
