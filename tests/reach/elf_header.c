/* elf_header.c - a constant beside the program's ELF header is the address of a lost block. */
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "leakwrap.h"
#include "tests/clear_stack.h"

enum { SIZE = 4096 };

#define BLOCK ((uintptr_t)0x68000000)

__attribute__((section(".note.block"), used)) static const uintptr_t constant = BLOCK;

static NOINLINE int lose(void)
{
	void *const block = mmap((void *)BLOCK, SIZE, PROT_READ | PROT_WRITE,
	                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block != (void *)BLOCK)
		return 77;
	leakwrap_record(block, SIZE);
	return 0;
}

int main(void)
{
	const int status = lose();

	clear_stack();
	return status != 0 ? status : raise(SIGUSR1);
}
