/* small_stack.c HOW - a dump in the handler of a signal that comes on an alternate stack of the
 * least size that the kernel takes (sigaltstack(2)).  Below that stack lies memory of somebody
 * else.
 *
 *   own       the program has a handler on SIGUSR1 with SA_ONSTACK
 *   crash     the tracer's crash trace comes on the program's stack
 *   none      as "own", and no signal is sent
 *
 * Prints the size, and how many bytes below the stack were overwritten. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* LEAST: the kernel's own MINSIGSTKSZ (uapi/asm/signal.h of x86). */
enum { BELOW = 65536, PATTERN = 0x5a, LEAST = 2048 };

static volatile sig_atomic_t handled;
static volatile char *volatile nowhere;
static void *volatile kept;

static void handle(int signo)
{
	handled = signo;
}

static void use_stack(void *memory, size_t size)
{
	const stack_t stack = {.ss_sp = memory, .ss_size = size};

	if (sigaltstack(&stack, NULL) != 0)
		_exit(77);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const size_t least = getauxval(AT_MINSIGSTKSZ);
	const size_t size = least > LEAST ? least : LEAST;
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	/* Shared, so that it outlives a child. */
	char *below =
	        mmap(NULL, BELOW + size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	size_t overwritten = 0;

	if (below == MAP_FAILED)
		return 2;
	memset(below, PATTERN, BELOW);
	kept = malloc(100);
	if (strcmp(how, "crash") == 0) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			kept = malloc(200);
			use_stack(below + BELOW, size);
			*nowhere = 1;
		}
		waitpid(child, &status, 0);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
			return 3;
	} else {
		use_stack(below + BELOW, size);
		sigaction(SIGUSR1, &action, NULL);
		if (strcmp(how, "none") != 0) {
			raise(SIGUSR1);
			if (!handled)
				return 4;
		}
	}
	for (size_t i = 0; i < BELOW; i++)
		overwritten += below[i] != PATTERN;
	printf("%zu %zu\n", size, overwritten);
	return 0;
}
