/* tracer_calls.c - counts the tracer's system calls: it makes all of them by leakwrap_call_kernel,
 * and the test links the program with -Wl,--wrap=leakwrap_call_kernel. */
#include "tests/limits/tracer_calls.h"

#include <unistd.h>

_Atomic unsigned long tracer_calls;

long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __real_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);

long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	tracer_calls++;
	return __real_leakwrap_call_kernel(number, a, b, c, d, e, f);
}

/* The tracer makes calls in each program.  A count of 0 says that they are not seen. */
__attribute__((destructor)) static void check_count(void)
{
	if (tracer_calls == 0)
		_exit(99);
}
