/* linux_call.h - makes a system call. */
#ifndef LEAKWRAP_LINUX_CALL_H
#define LEAKWRAP_LINUX_CALL_H

/* Makes the system call NUMBER with its arguments; further ones are ignored.  Returns its result,
 * or -errno.  Does not change errno, and asks no filter (linux_filter.h).  Signal-safe; no
 * cancellation point.  All of the tracer's system calls come here.  Tests put another function in
 * its place (ld(1), --wrap). */
long leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);

#endif
