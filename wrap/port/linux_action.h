/* linux_action.h - what happens on a signal: sigaction(2) past the C library, which keeps some
 * signals for itself and may be wrapped. */
#ifndef LEAKWRAP_LINUX_ACTION_H
#define LEAKWRAP_LINUX_ACTION_H

#include "wrap/port/linux.h"

/* The kernel's struct sigaction (Linux, include/linux/signal_types.h).  Only architectures with the
 * flag SA_RESTORER have the member.  MIPS has another order.  On RISC-V qemu-user (seen: 7.2) reads
 * and writes a restorer before the mask, against the kernel, so it needs room for one more word. */
#if defined(__x86_64__) || defined(__i386__) || defined(__arm__) || defined(__aarch64__)
#define LEAKWRAP_HAVE_ACTION   1
#define LEAKWRAP_HAVE_RESTORER 1
#elif defined(__riscv)
#define LEAKWRAP_HAVE_ACTION   1
#define LEAKWRAP_HAVE_RESTORER 0
#else
#define LEAKWRAP_HAVE_ACTION   0
#define LEAKWRAP_HAVE_RESTORER 0
#endif

struct leakwrap_action {
	leakwrap_signal_handler *handler;
	unsigned long flags;
#if LEAKWRAP_HAVE_RESTORER
	void (*restorer)(void);
#endif
	uint64_t mask;
#if !LEAKWRAP_HAVE_RESTORER
	uint64_t emulator_mask;
#endif
};

/* Flags of an action (Linux, uapi/asm-generic/signal-defs.h: SA_ONSTACK and so on). */
#define LEAKWRAP_SA_ONSTACK 0x08000000ul
#define LEAKWRAP_SA_RESTART 0x10000000ul
#define LEAKWRAP_SA_NODEFER 0x40000000ul

/* Returns the action that calls HANDLER, with FLAGS (LEAKWRAP_SA_*) and while the signals of MASK
 * are blocked. */
struct leakwrap_action leakwrap_action_of(leakwrap_signal_handler *handler, unsigned long flags,
                                          uint64_t mask);

/* Sets ACTION for SIGNO, unless it is NULL, and stores the action before in *OLD, unless OLD is
 * NULL.  Returns false if the kernel refuses, or on an architecture whose calls are not known. */
bool leakwrap_action_set(int signo, const struct leakwrap_action *action,
                         struct leakwrap_action *old);

#endif
