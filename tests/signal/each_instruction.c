/* each_instruction.c KIND - a signal at each instruction of the wrappers (x86-64). Steps a child
 * through a round of work, and notes which instructions of the program's own file it executes. Then
 * the child runs a round for each of them, and a signal comes there. The handler allocates and
 * frees blocks as KIND says: small, large, resize, or dump, which asks for a dump. At its end the
 * child asks for a dump. Prints the child's number and the number of signals. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/noinline.h"

extern const char __executable_start[], etext[];

static void *volatile kept[3];
static void *volatile of_handler;
static char kind;
static volatile long is_over; /* the parent sets it */

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	switch (kind) {
	case 's':
		free(malloc(24));
		break;
	case 'l':
		free(malloc(9000));
		break;
	case 'r':
		of_handler = realloc(of_handler, 400);
		of_handler = reallocarray(of_handler, 3, 40);
		free(of_handler);
		of_handler = NULL;
		break;
	default:
		raise(SIGUSR1);
		break;
	}
}

static NOINLINE void allocates(void)
{
	kept[0] = malloc(100);
	kept[1] = calloc(5, 30);
	kept[2] = malloc(7000);
}

static NOINLINE void resizes(void)
{
	kept[0] = realloc(kept[0], 300);
	kept[1] = reallocarray(kept[1], 2, 20);
	kept[2] = realloc(kept[2], 9000);
}

static void releases(void)
{
	for (size_t i = 0; i < 3; i++)
		free(kept[i]);
}

/* Ends a round: stops for the parent, at its first instruction. */
static NOINLINE __attribute__((naked)) void end_round(void)
{
	__asm__ volatile("int3\n\tret");
}

static void work(void)
{
	releases();
	allocates();
	resizes();
}

static void be_child(void)
{
	const struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	sigaction(SIGUSR2, &action, NULL);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(errno == EPERM ? 77 : 1);
	raise(SIGSTOP);
	while (!is_over) {
		work();
		end_round();
	}
	raise(SIGUSR1);
	_exit(0);
}

/* Lets the child go on as REQUEST says, with the signal SIGNO unless it is 0. Passes on the signals
 * that stop it, but not a trap. Returns where the trap stopped it. Ends the test if there was none.
 */
static uintptr_t let(pid_t child, int request, int signo)
{
	struct user_regs_struct registers;
	int status;

	do {
		if (ptrace(request, child, NULL, (void *)(uintptr_t)signo) != 0 ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			exit(1);
		signo = WSTOPSIG(status);
	} while (signo != SIGTRAP);
	if (ptrace(PTRACE_GETREGS, child, NULL, &registers) != 0)
		exit(1);
	return registers.rip;
}

static void set_pc(pid_t child, uintptr_t pc)
{
	if (ptrace(PTRACE_POKEUSER, child, offsetof(struct user, regs.rip), pc) != 0)
		exit(1);
}

/* Returns the word at ADDRESS in the child, and sets it to WORD with the bits of MASK. */
static long exchange(pid_t child, const volatile void *address, long word, long mask)
{
	const long old = ptrace(PTRACE_PEEKDATA, child, address, NULL);

	if (ptrace(PTRACE_POKEDATA, child, address, (old & ~mask) | (word & mask)) != 0)
		exit(1);
	return old;
}

/* Steps the child to the end of a round. Sets an element of EXECUTED for each instruction. */
static void step(pid_t child, bool *executed, size_t len)
{
	uintptr_t pc;

	do {
		pc = let(child, PTRACE_SINGLESTEP, 0);
		if (pc - (uintptr_t)__executable_start < len)
			executed[pc - (uintptr_t)__executable_start] = true;
	} while (pc != (uintptr_t)end_round);
	if (let(child, PTRACE_CONT, 0) != (uintptr_t)end_round + 1)
		exit(1);
}

/* Lets the child run a round, and sends it a signal when it comes to PC. Returns whether it came.
 */
static bool interrupt(pid_t child, uintptr_t pc)
{
	const long breakpoint = 0xcc;
	const long old = exchange(child, (void *)pc, breakpoint, 0xff);
	const bool has_come = let(child, PTRACE_CONT, 0) == pc + 1;

	exchange(child, (void *)pc, old, -1L);
	if (has_come) {
		set_pc(child, pc);
		let(child, PTRACE_CONT, SIGUSR2);
	}
	return has_come;
}

/* Sends signals to the child at all instructions. Returns their number. */
static long interrupt_everywhere(pid_t child)
{
	const size_t len = (uintptr_t)etext - (uintptr_t)__executable_start;
	bool *executed = calloc(len, sizeof(*executed));
	long signals = 0;

	/* At first the call sites are new to the tracer. */
	for (int i = 0; i < 5; i++)
		let(child, PTRACE_CONT, 0);
	step(child, executed, len);
	for (size_t i = 0; i < len; i++)
		if (executed[i] && __executable_start + i != (const char *)end_round)
			signals += interrupt(child, (uintptr_t)__executable_start + i);
	free(executed);
	return signals;
}

int main(int argc, char **argv)
{
	pid_t child;
	long signals;
	int status;

	kind = argc > 1 ? argv[1][0] : 's';
	child = fork();
	if (child == 0)
		be_child();
	if (waitpid(child, &status, 0) != child)
		return 1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	signals = interrupt_everywhere(child);
	exchange(child, &is_over, 1, -1L);
	if (ptrace(PTRACE_DETACH, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child)
		return 1;
	printf("%d %ld\n", (int)child, signals);
	return status == 0 ? 0 : 1;
}
