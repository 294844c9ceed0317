/* line.c - the C library's functions that read a line into a growing buffer of the caller.
 *
 * Each definition is compiled alone, into its own archive member, with LEAKWRAP_ENTRY_<symbol>; the
 * program calls it in the place of <symbol>.  They may allocate although they fail. */
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "wrap/entry/define.h"

/* Many an old program has a function of its own, int getline(char *line, int limit), which the linker takes for the C library's.
 * No program has memory so low as its limits are (/proc/sys/vm/mmap_min_addr). */
#ifdef LEAKWRAP_BARE
#define LOWEST_POINTER 1
#else
#define LOWEST_POINTER 32768
#endif

/* NAME reads into *LINE, which has *CAPACITY bytes. */
#define READ_LINE(name, parameters, arguments)                                                   \
	ENTRY_DECLARE(ssize_t, name, parameters);                                                \
	ssize_t __wrap_##name parameters                                                         \
	{                                                                                        \
		if (!line || (uintptr_t)capacity < LOWEST_POINTER)                               \
			return __real_##name arguments;                                          \
		struct leakwrap_replacement old = leakwrap_begin_replacement(BUFFER, *capacity); \
		ssize_t read = __real_##name arguments;                                          \
		leakwrap_end_replacement(old, BUFFER, *capacity, LEAKWRAP_CALLER);               \
		return read;                                                                     \
	}

/* glibc takes a buffer without capacity for none and leaves it to the program, also when it fails before it allocates
 * one; musl grows it. */
#ifdef __GLIBC__
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
