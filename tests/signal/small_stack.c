/* small_stack.c HOW [ROOM] - a dump in the handler of a signal that comes on an alternate stack of
 * the least size that the kernel names (sigaltstack(2)), or of ROOM bytes more.  A negative ROOM
 * makes it smaller.  Below that stack lies memory of somebody else.
 *
 *   own       the program has a handler on SIGUSR1 with SA_ONSTACK
 *   within    as "own", and the alternate stack is a part of the thread's own stack
 *   two       as "own", in two threads at a time, each with such a stack
 *   crash     the tracer's crash trace comes on the program's stack
 *
 * Prints the size of the stack, how many bytes below it were overwritten, and how many bytes were
 * used from its upper end down. */
#include <pthread.h>
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

/* LEAST: the kernel's MINSIGSTKSZ (uapi/asm/signal.h): 2048, but on arm64 5120. */
#ifdef __aarch64__
enum { LEAST = 5120 };
#else
enum { LEAST = 2048 };
#endif
enum { BELOW = 65536, PATTERN = 0x5a, MOST = 65536, ROUNDS = 60 };

/* Signals that the program's handler has got. */
static _Atomic int handled;
static volatile char *volatile nowhere;
static void *volatile kept;
static size_t size;

static void handle(int signo, siginfo_t *info, void *context)
{
	(void)signo, (void)info, (void)context;
	handled++;
}

/* Makes the SIZE bytes behind the first BELOW of MEMORY the alternate stack.  Fills all with
 * PATTERN. */
static void use_stack(char *memory)
{
	const stack_t stack = {.ss_sp = memory + BELOW, .ss_size = size};

	memset(memory, PATTERN, BELOW + size);
	if (sigaltstack(&stack, NULL) != 0)
		_exit(77);
}

static void report(const char *memory)
{
	size_t overwritten = 0, first = 0;

	while (memory[first] == PATTERN)
		first++;
	for (size_t i = 0; i < BELOW; i++)
		overwritten += memory[i] != PATTERN;
	printf("%zu %zu %zu\n", size, overwritten, BELOW + size - first);
}

static void *raise_often(void *memory)
{
	use_stack(memory);
	for (int i = 0; i < ROUNDS; i++)
		raise(SIGUSR1);
	return NULL;
}

/* Its own stack ends above MEMORY. */
static void raise_within(void)
{
	_Alignas(64) char memory[BELOW + MOST];
	const stack_t none = {.ss_flags = SS_DISABLE};

	use_stack(memory);
	raise(SIGUSR1);
	report(memory);
	sigaltstack(&none, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const size_t least = getauxval(AT_MINSIGSTKSZ);
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_ONSTACK | SA_SIGINFO};
	/* Shared, so that it outlives a child. */
	char *memory = mmap(NULL, 2 * (size_t)(BELOW + MOST), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	size = (least > LEAST ? least : LEAST) + (argc > 2 ? (size_t)atol(argv[2]) : 0);
	if (memory == MAP_FAILED || size > MOST)
		return 2;
	kept = malloc(100);
	sigaction(SIGUSR1, &action, NULL);
	if (strcmp(how, "crash") == 0) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			kept = malloc(200);
			use_stack(memory);
			*nowhere = 1;
		}
		waitpid(child, &status, 0);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSEGV)
			return 3;
		report(memory);
	} else if (strcmp(how, "two") == 0) {
		pthread_t other;

		if (pthread_create(&other, NULL, raise_often, memory + BELOW + MOST) != 0)
			return 2;
		raise_often(memory);
		pthread_join(other, NULL);
		report(memory);
		report(memory + BELOW + MOST);
		fprintf(stderr, "%d\n", handled);
	} else if (strcmp(how, "within") == 0) {
		raise_within();
	} else {
		use_stack(memory);
		raise(SIGUSR1);
		report(memory);
	}
	return strcmp(how, "crash") == 0 || handled ? 0 : 4;
}
