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

/* Returns whether INFO, which can be read, may be that of a signal SIGNO.  For a handler without
 * SA_SIGINFO the kernel leaves room for the structure, and does not fill it in.  Codes lie between
 * SI_ASYNCNL, -60, and SI_KERNEL, 128 (sigaction(2)). */
static bool is_plausible(int signo, const siginfo_t *info)
{
	return info->si_signo == signo && info->si_errno == 0 && info->si_code >= -64 &&
	       info->si_code <= SI_KERNEL;
}

bool leakwrap_is_signal_info(int signo, const siginfo_t *info)
{
	return is_structure(info, sizeof(*info)) && is_plausible(signo, info);
}

bool leakwrap_is_handler_call(int signo, const siginfo_t *info, const void *context)
{
	const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if ((uintptr_t)info - frame < NEAR && (uintptr_t)context - frame < NEAR)
		return is_plausible(signo, info);
	/* A handler may hand on what the kernel has passed to it. */
	return leakwrap_is_signal_info(signo, info) && is_structure(context, sizeof(uintptr_t) * 8);
}
