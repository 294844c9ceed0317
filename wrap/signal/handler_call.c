/* handler_call.c - see handler_call.h. */
#include "wrap/signal/handler_call.h"

#include "wrap/port/linux_filter.h"
#include "wrap/port/port.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* The kernel's signal frame begins less than this above the frames of a handler and its callee. */
#define NEAR 16384u

/* Returns whether the SIZE bytes at START can be read, as far as the kernel tells, and START is
 * aligned as the kernel aligns it.  A filter of the program may forbid to ask. */
static bool is_structure(const void *start, size_t size)
{
	const uintptr_t address = (uintptr_t)start;

	return address % sizeof(int) == 0 && address >= LEAKWRAP_PAGE && address + size > address &&
	       (leakwrap_filters_forbid(__NR_rt_sigprocmask, (const long[6]){-1}) ||
	        !(leakwrap_is_unreadable(address) || leakwrap_is_unreadable(address + size - 1)));
}

bool leakwrap_is_signal_info(int signo, const siginfo_t *info)
{
	return is_structure(info, sizeof(*info)) && info->si_signo == signo;
}

bool leakwrap_is_handler_call(int signo, const siginfo_t *info, const void *context)
{
	const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if ((uintptr_t)info - frame < NEAR && (uintptr_t)context - frame < NEAR)
		return info->si_signo == signo;
	/* A handler may hand on what the kernel has passed to it. */
	return leakwrap_is_signal_info(signo, info) && is_structure(context, sizeof(uintptr_t) * 8);
}
