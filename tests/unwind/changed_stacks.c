/* changed_stacks.c - allocates behind functions that change the stack, as OCaml 5 does between its
 * stacks and those of C. */
#include <signal.h>
#include <stdlib.h>

#include "tests/noinline.h"

/* Calls FUNCTION on the stack that ends at END.  The tables mark it as a signal frame, and say that
 * its frame ends where the word on top of the new stack points, plus 8. */
void call_on(char *end, void (*function)(void));

/* The same, but the tables say where the frame ends by two words, of which one leads to the other:
 * the tracer does not follow them. */
void call_by_two(char *end, void (*function)(void));

/* Calls raise.  It has no table, and the tracer searches the stack for its return address. */
void raise_signal(int signal);

__asm__(".globl call_on\n"
        ".type call_on, @function\n"
        "call_on: .cfi_startproc\n"
        ".cfi_signal_frame\n"
        "mov %rsp, -16(%rdi)\n"
        "lea -16(%rdi), %rsp\n"
        ".cfi_escape 0x0f, 5, 0x77, 0, 0x06, 0x23, 8\n" /* breg7 0, deref, plus 8 */
        "call *%rsi\n"
        "mov (%rsp), %rsp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_on, .-call_on\n"

        ".globl call_by_two\n"
        ".type call_by_two, @function\n"
        "call_by_two: .cfi_startproc\n"
        ".cfi_signal_frame\n"
        "mov %rsp, -8(%rdi)\n"
        "lea -8(%rdi), %rax\n"
        "mov %rax, -16(%rdi)\n"
        "lea -16(%rdi), %rsp\n"
        ".cfi_escape 0x0f, 8, 0x77, 0, 0x06, 0x23, 0, 0x06, 0x23, 8\n"
        "call *%rsi\n"
        "mov 8(%rsp), %rsp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_by_two, .-call_by_two\n"

        ".globl raise_signal\n"
        ".type raise_signal, @function\n"
        "raise_signal: push %rbx\n"
        "mov %rsp, %rbx\n"
        "sub $64, %rsp\n"
        "call raise\n"
        "mov %rbx, %rsp\n"
        "pop %rbx\n"
        "ret\n"
        ".size raise_signal, .-raise_signal\n");

enum { STACK = 65536 };

static void *volatile kept;
static char *other_stack, *third_stack, *own_stack;
static _Alignas(16) char signal_stack[STACK];

static NOINLINE void leak(size_t size)
{
	kept = malloc(size);
	__asm__ volatile("");
}

static NOINLINE void inner(void)
{
	leak(100);
	__asm__ volatile("");
}

static NOINLINE void lost(void)
{
	call_on(own_stack, inner);
	__asm__ volatile("");
}

static NOINLINE void middle(void)
{
	leak(200);
	call_on(own_stack, inner);
	call_by_two(third_stack + STACK, lost);
	__asm__ volatile("");
}

static NOINLINE void handled(void)
{
	leak(400);
	__asm__ volatile("");
}

/* Runs on a stack for signals. */
static void handle(int signal)
{
	(void)signal;
	call_on(other_stack + STACK, handled);
	__asm__ volatile("");
}

static NOINLINE void outer(void)
{
	_Alignas(16) char room[STACK];

	__asm__ volatile("" ::"r"(room) : "memory");
	own_stack = room + STACK;
	call_on(other_stack + STACK, middle);
	leak(300);
	raise_signal(SIGALRM);
	__asm__ volatile("");
}

int main(void)
{
	other_stack = malloc(STACK);
	third_stack = malloc(STACK);
	sigaltstack(&(stack_t){.ss_sp = signal_stack, .ss_size = STACK}, NULL);
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_ONSTACK}, NULL);
	for (volatile int i = 0; i < 3; i++)
		outer();
	free(other_stack);
	free(third_stack);
	return 0;
}
