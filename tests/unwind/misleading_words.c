/* misleading_words.c - one function has neither an unwind table nor code that describes its frame,
 * so the walk looks at all words of the frame (x86-64). The words point between the program's two
 * executable segments. With an argument, a word is a return address that an earlier walk may have
 * left on the stack: that of the first frame, or one of the tracer's own, or one of the
 * loader's. The second may lie behind a return address in a function with a table. */
#include "leakwrap.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static void *volatile kept;

__attribute__((section(".far"), noinline)) void allocate(void)
{
	kept = malloc(11);
}

void call_allocate(void);
unsigned long words[3]; /* in the function's frame */

__asm__(".text\n"
        ".globl call_allocate\n"
        ".type call_allocate, @function\n"
        "call_allocate:\n"
        "	push %rbp\n"
        "	push %rbx\n"
        "	mov %rsp, %rbx\n"
        "	xor %ebp, %ebp\n"
        "	push words+16(%rip)\n"
        "	push words+8(%rip)\n"
        "	push words(%rip)\n"
        "	sub $64, %rsp\n"
        "	and $-16, %rsp\n"
        "	call allocate\n"
        "	mov %rbx, %rsp\n"
        "	pop %rbx\n"
        "	pop %rbp\n"
        "	ret\n"
        ".size call_allocate, . - call_allocate\n");

/* A function that has returned, and has a table. */
extern const char stale_return[];

__asm__(".text\n"
        ".type stale, @function\n"
        "stale:\n"
        "	.cfi_startproc\n"
        "	sub $8, %rsp\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	call *%rax\n"
        "stale_return:\n"
        "	add $8, %rsp\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size stale, . - stale\n");

/* The tracer calls this function. */
static unsigned long of_tracer;
__attribute__((noinline)) const char *leakwrap_default_options(void)
{
	of_tracer = (unsigned long)__builtin_return_address(0);
	return "";
}

/* Returns the return address of a call inside the loader. */
static unsigned long find_in_loader(void)
{
	const unsigned long base = getauxval(AT_BASE);
	const ElfW(Ehdr) *const header = (const void *)base;
	const ElfW(Phdr) *segment = (const void *)(base + header->e_phoff);

	while (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
		segment++;
	for (unsigned long at = 0; at + 5 < segment->p_memsz; at++) {
		const char *const code = (const char *)(base + segment->p_vaddr + at);
		int distance;

		memcpy(&distance, code + 1, sizeof(distance));
		if (code[0] == '\xe8' && distance > 0 &&
		    at + 5 + (unsigned)distance < segment->p_memsz)
			return (unsigned long)code + 5;
	}
	return 0;
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
	words[0] = 0x5000000;
	if (argc > 1 && strcmp(argv[1], "behind") == 0) {
		words[0] = (unsigned long)stale_return;
		words[2] = of_tracer;
	} else if (argc > 1 && strcmp(argv[1], "loader") == 0) {
		words[0] = find_in_loader();
	} else if (argc > 1) {
		words[0] =
		        strcmp(argv[1], "own") == 0 ? of_tracer : (unsigned long)chain[count - 1];
	}
	call_allocate();
	return 0;
}
