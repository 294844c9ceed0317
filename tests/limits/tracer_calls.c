/* tracer_calls.c - counts the tracer's system calls: it makes all of them by syscall(2), and the
 * test links the program with -Wl,--wrap=syscall. */
#include "tests/limits/tracer_calls.h"

_Atomic unsigned long tracer_calls;

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __real_syscall(long number, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	tracer_calls++;
	return __real_syscall(number, a, b, c, d, e, f);
}
