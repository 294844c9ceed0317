/* misleading_words.c - one function has neither an unwind table nor code that describes its frame,
 * so the walk looks at all words of the frame (x86-64). The words point between the program's two
 * executable segments. With an argument, a word is a return address that an earlier walk may have
 * left on the stack: that of the first frame, or one of the tracer's own. */
#include "leakwrap.h"

#include <stdlib.h>
#include <string.h>

static void *volatile kept;

__attribute__((section(".far"), noinline)) void allocate(void)
{
	kept = malloc(11);
}

void call_allocate(void);
unsigned long word; /* in the function's frame */

__asm__(".text\n"
        ".globl call_allocate\n"
        ".type call_allocate, @function\n"
        "call_allocate:\n"
        "	push %rbp\n"
        "	push %rbx\n"
        "	mov %rsp, %rbx\n"
        "	xor %ebp, %ebp\n"
        "	push word(%rip)\n"
        "	sub $64, %rsp\n"
        "	and $-16, %rsp\n"
        "	call allocate\n"
        "	mov %rbx, %rsp\n"
        "	pop %rbx\n"
        "	pop %rbp\n"
        "	ret\n"
        ".size call_allocate, . - call_allocate\n");

/* The tracer calls this function. */
static unsigned long of_tracer;
__attribute__((noinline)) const char *leakwrap_default_options(void)
{
	of_tracer = (unsigned long)__builtin_return_address(0);
	return "";
}

/* Clears the stack below main: earlier calls have left return addresses there. */
__attribute__((noinline)) static void clear_stack(void)
{
	volatile char room[32768];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(int argc, char **argv)
{
	void *chain[16];
	size_t count = leakwrap_backtrace(chain, 16);

	clear_stack();
	word = 0x5000000;
	if (argc > 1)
		word = strcmp(argv[1], "own") == 0 ? of_tracer : (unsigned long)chain[count - 1];
	call_allocate();
	return 0;
}
