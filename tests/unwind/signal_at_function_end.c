/* signal_at_function_end.c - a signal comes at the end of a function (x86-64). The function has
 * already restored a register, but the unwind table still says that it is saved below sp. The
 * handler allocates, on a stack of its own. */
#include <signal.h>
#include <stdlib.h>

static void *volatile kept;

static void on_trap(int number)
{
	(void)number;
	kept = malloc(33);
}

void trap_at_end(void);

__asm__(".text\n"
        ".globl trap_at_end\n"
        ".type trap_at_end, @function\n"
        "trap_at_end:\n"
        "	.cfi_startproc\n"
        "	push %rbp\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset %rbp, -16\n"
        "	xor %ebp, %ebp\n"
        "	pop %rbp\n"
        "	.cfi_def_cfa_offset 8\n"
        "	int3\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size trap_at_end, . - trap_at_end\n");

int main(void)
{
	static char stack[1 << 16];
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	const struct sigaction action = {.sa_handler = on_trap, .sa_flags = SA_ONSTACK};

	sigaltstack(&alternate, NULL);
	sigaction(SIGTRAP, &action, NULL);
	trap_at_end();
	return 0;
}
