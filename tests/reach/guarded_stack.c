/* guarded_stack.c - a coroutine whose stack is a block with a page that cannot be read.  A block is
 * kept by the coroutine's frame alone.  Asks for a dump while the coroutine is suspended, and while
 * it runs: then nothing but the stack pointer leads to the stack. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/clear_stack.h"

enum { PAGE = 4096, SIZE = 32 * PAGE };

static ucontext_t of_main, of_coroutine;
static void *volatile stack;

static NOINLINE void allocate(void *volatile *kept)
{
	*kept = malloc(40);
}

static void run(void)
{
	void *volatile kept;

	allocate(&kept);
	clear_stack();
	swapcontext(&of_coroutine, &of_main);
	stack = NULL;
	memset(&of_coroutine, 0, sizeof(of_coroutine));
	clear_stack();
	raise(SIGUSR1);
	free(kept);
	setcontext(&of_main);
}

static NOINLINE void make(void)
{
	void *block;

	if (posix_memalign(&block, PAGE, SIZE) != 0 || mprotect(block, PAGE, PROT_NONE) != 0 ||
	    getcontext(&of_coroutine) != 0)
		abort();
	of_coroutine.uc_stack.ss_sp = block;
	of_coroutine.uc_stack.ss_size = SIZE;
	makecontext(&of_coroutine, run, 0);
	stack = block;
}

int main(void)
{
	make();
	clear_stack();
	swapcontext(&of_main, &of_coroutine);
	memset(&of_coroutine.uc_stack, 0, sizeof(of_coroutine.uc_stack));
	clear_stack();
	raise(SIGUSR1);
	swapcontext(&of_main, &of_coroutine);
	return 0;
}
