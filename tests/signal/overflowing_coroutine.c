/* overflowing_coroutine.c - a coroutine recurses until its stack is full, and allocates at each
 * depth.  overflowing_coroutine SPARE [handle] [many]: the stack is 16 bytes smaller for each
 * SPARE.  With "handle" the program's own handler ends it with status 3.  With "many" more than
 * 4,096 call sites have a live block first, so that a stack is learned when it comes again. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, SIZE = 3 * PAGE };

static ucontext_t caller, callee;

__attribute__((noinline)) static void go_down(int depth)
{
	volatile char used[200];

	used[0] = 0;
	if (depth > 0)
		go_down(depth - 1);
	else
		free(malloc(10));
	used[1] = used[0];
}

static void overflow(void)
{
	for (int depth = 0; depth < 1000; depth++)
		for (int times = 0; times < 4; times++)
			go_down(depth);
}

/* Allocates by two to the power of DEPTH stacks. */
__attribute__((noinline)) static void branch(int depth)
{
	if (depth == 0) {
		if (!malloc(10))
			_exit(4);
		return;
	}
	branch(depth - 1);
	branch(depth - 1);
}

static void on_fault(int signo)
{
	(void)signo;
	_exit(3);
}

int main(int count, char **words)
{
	static char alternate[64 << 10];
	const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
	char *memory =
	        mmap(NULL, PAGE + SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 2; i < count; i++) {
		if (strcmp(words[i], "many") == 0)
			branch(13);
		if (strcmp(words[i], "handle") == 0) {
			sigaltstack(&stack, NULL);
			sigaction(SIGSEGV, &action, NULL);
		}
	}
	mprotect(memory, PAGE, PROT_NONE);
	getcontext(&callee);
	callee.uc_stack.ss_sp = memory + PAGE;
	callee.uc_stack.ss_size = SIZE - 16 * (size_t)atoi(words[1]);
	callee.uc_link = &caller;
	makecontext(&callee, overflow, 0);
	swapcontext(&caller, &callee);
	return 0;
}
