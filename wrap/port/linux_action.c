/* linux_action.c - see linux_action.h. */
#include "wrap/port/linux_action.h"

#include <signal.h>

/* Linux, uapi/asm-generic/signal-defs.h and arch/x86/include/uapi/asm/signal.h: SA_SIGINFO and
 * SA_RESTORER. */
#define SA_WITH_INFO     4ul
#define SA_WITH_RESTORER 0x04000000ul

#if defined(__x86_64__) && LEAKWRAP_HAVE_ACTION
/* On x86-64 the kernel has no trampoline of its own.  This one has the code of x86_64.h, by which
 * walks recognize it: 15 is __NR_rt_sigreturn. */
extern void leakwrap_signal_return(void);
__asm__(".pushsection .text\n"
        ".hidden leakwrap_signal_return\n"
        ".globl leakwrap_signal_return\n"
        ".type leakwrap_signal_return, @function\n"
        "nop\n" /* walks look up the byte before a return address */
        "leakwrap_signal_return:\n"
        "movq $15, %rax\n"
        "syscall\n"
        ".size leakwrap_signal_return, . - leakwrap_signal_return\n"
        ".popsection\n");
#endif

struct leakwrap_action leakwrap_action_of(leakwrap_signal_handler *handler, unsigned long flags,
                                          uint64_t mask)
{
	struct leakwrap_action action = {
	        .handler = handler, .flags = SA_WITH_INFO | flags, .mask = mask};

#if defined(__x86_64__) && LEAKWRAP_HAVE_ACTION
	action.flags |= SA_WITH_RESTORER;
	action.restorer = leakwrap_signal_return;
#elif !LEAKWRAP_HAVE_RESTORER
	action.emulator_mask = mask;
#endif
	return action;
}

bool leakwrap_action_set(int signo, const struct leakwrap_action *action,
                         struct leakwrap_action *old)
{
	return LEAKWRAP_HAVE_ACTION && leakwrap_syscall(__NR_rt_sigaction, signo, (long)action,
	                                                (long)old, KERNEL_SIGSET_SIZE, 0, 0) == 0;
}

/* -- faults ------------------------------------------------------------------------------------ */

static const int faults[] = {SIGSEGV, SIGBUS};

#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static struct leakwrap_action before[FAULTS];
static struct leakwrap_mask mask_before;

static uint64_t mask_of_faults(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < FAULTS; i++)
		mask |= (uint64_t)1 << (faults[i] - 1);
	return mask;
}

bool leakwrap_faults_catch(leakwrap_signal_handler *handler)
{
	const struct leakwrap_action action =
	        leakwrap_action_of(handler, LEAKWRAP_SA_NODEFER | LEAKWRAP_SA_ONSTACK, 0);
	const struct leakwrap_mask mask = {.bits = {mask_of_faults(), 0}};

	for (size_t i = 0; i < FAULTS; i++)
		if (!leakwrap_action_set(faults[i], &action, &before[i])) {
			while (i-- > 0)
				leakwrap_action_set(faults[i], &before[i], NULL);
			return false;
		}
	leakwrap_signals_change(SIG_UNBLOCK, &mask, &mask_before);
	return true;
}

void leakwrap_faults_release(void)
{
	leakwrap_signals_restore(&mask_before);
	for (size_t i = 0; i < FAULTS; i++)
		leakwrap_action_set(faults[i], &before[i], NULL);
}

/* Reads into *STACK what the kernel knows of this thread's alternate stack.  Returns false if a
 * filter of the program forbids it. */
static bool read_alternate_stack(stack_t *stack)
{
	return leakwrap_syscall(__NR_sigaltstack, 0, (long)stack, 0, 0, 0, 0) == 0;
}

uintptr_t leakwrap_thread_alternate_stack(void)
{
	stack_t stack;

	return read_alternate_stack(&stack) && (stack.ss_flags & SS_DISABLE) == 0
	               ? (uintptr_t)stack.ss_sp
	               : 0;
}

bool leakwrap_thread_is_on_alternate_stack(void)
{
	stack_t stack;

	return read_alternate_stack(&stack) && (stack.ss_flags & SS_ONSTACK) != 0;
}
