/* seccomp_random_filters.c SEED - for random seccomp filters the tracer knows at which system calls
 * the kernel ends the process.  Ends with 77 if there are no filters. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/random.h"
#include "wrap/port/linux_filter.h"

enum { FILTERS = 400, STEPS = 24, MEMORY = 16, CALL_WORDS = 16 };

static struct sock_filter steps[3 + MEMORY + STEPS + 1 + 2];
static unsigned short count;

static uint64_t state;

static uint32_t any_word(void)
{
	return (uint32_t)draw_random(&state);
}

static unsigned below(unsigned limit)
{
	return any_word() % limit;
}

static uint32_t word(void)
{
	const uint32_t any = any_word();

	return below(3) == 0 ? below(40) : any;
}

static void add(unsigned code, uint32_t value, unsigned if_true, unsigned if_false)
{
	steps[count++] =
	        (struct sock_filter){(uint16_t)code, (uint8_t)if_true, (uint8_t)if_false, value};
}

/* Loads a word of the call, but not of its place in the code: the two calls have different ones. */
static void add_load(void)
{
	unsigned at = below(CALL_WORDS);

	if (at == 2 || at == 3)
		at = 0;
	add(BPF_LD | BPF_W | BPF_ABS, at * 4, 0, 0);
}

static void add_computation(void)
{
	static const unsigned codes[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,
	                                 BPF_AND, BPF_LSH, BPF_RSH, BPF_XOR, BPF_NEG};
	const unsigned code = codes[below(10)], with = below(2) ? BPF_X : BPF_K;
	uint32_t value = word();

	if (code == BPF_LSH || code == BPF_RSH)
		value %= 32;
	if (code == BPF_DIV && value == 0)
		value = 1;
	if (code == BPF_NEG)
		add(BPF_ALU | BPF_NEG, 0, 0, 0);
	else
		add(BPF_ALU | code | with, with == BPF_X ? 0 : value, 0, 0);
}

/* LEFT: how many steps follow. */
static void add_jump(unsigned left)
{
	static const unsigned codes[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
	const unsigned with = below(2) ? BPF_X : BPF_K;

	if (below(6) == 0)
		add(BPF_JMP | BPF_JA, below(left), 0, 0);
	else
		add(BPF_JMP | codes[below(4)] | with, with == BPF_X ? 0 : word(), below(left),
		    below(left));
}

static void add_step(unsigned left)
{
	switch (below(9)) {
	case 0:
	case 1:
		add_load();
		break;
	case 2:
		add(below(2) ? BPF_LD | BPF_IMM : BPF_LDX | BPF_IMM, word(), 0, 0);
		break;
	case 3:
		add(below(2) ? BPF_LD | BPF_MEM : BPF_LDX | BPF_MEM, below(MEMORY), 0, 0);
		break;
	case 4:
		add(below(2) ? BPF_ST : BPF_STX, below(MEMORY), 0, 0);
		break;
	case 5:
		add(below(3) == 0 ? BPF_LD | BPF_W | BPF_LEN
		                  : BPF_MISC | (below(2) ? BPF_TAX : BPF_TXA),
		    0, 0, 0);
		break;
	case 6:
		add_jump(left);
		break;
	default:
		add_computation();
	}
}

/* The kernel refuses a filter that reads memory to which it has not written. */
static void make_filter(void)
{
	static const uint32_t results[] = {0x80000000u, 0,           0x00030000u, 0x00050001u,
	                                   0x7ff00000u, 0x7ffc0000u, 0x7fff0000u};
	static const unsigned tests[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};

	count = 0;
	add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	add(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1);
	add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	for (unsigned i = 0; i < MEMORY; i++)
		add(BPF_ST, i, 0, 0);
	for (unsigned i = 0; i < STEPS; i++)
		add_step(STEPS - i);
	add(BPF_JMP | tests[below(4)] | BPF_K, word(), 0, 1);
	add(BPF_RET | BPF_K, results[below(7)], 0, 0);
	if (below(3) == 0)
		add(BPF_RET | BPF_A, 0, 0, 0);
	else
		add(BPF_RET | BPF_K, results[below(7)], 0, 0);
}

/* Makes the call in a child that has installed the filter.  Returns whether that ended the
 * child. */
static bool kernel_ends_at(const long a[6])
{
	struct sock_fprog program = {count, steps};
	const pid_t child = fork();
	int status;

	if (child == 0) {
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
			syscall(SYS_exit_group, 77);
		syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]);
		syscall(SYS_exit_group, 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		exit(1);
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		exit(WEXITSTATUS(status));
	return !WIFEXITED(status);
}

static bool tracer_ends_at(const long a[6])
{
	const size_t size = count * sizeof(steps[0]);
	struct leakwrap_filter *const filter = calloc(1, sizeof(*filter) + size);
	bool ends;

	if (!filter)
		exit(1);
	memcpy(filter->steps, steps, size);
	filter->count = count;
	leakwrap_filters_add(filter, getpid());
	ends = leakwrap_filters_forbid(SYS_getppid, a);
	leakwrap_filters_withdraw(filter);
	return ends;
}

int main(int argc, char **argv)
{
	unsigned ended = 0, differ = 0;

	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 77;
	for (unsigned i = 0; i < FILTERS; i++) {
		long a[6];
		bool ends;

		for (unsigned k = 0; k < 6; k++)
			a[k] = (long)((uint64_t)word() << 32 | word());
		make_filter();
		ends = kernel_ends_at(a);
		ended += ends;
		differ += ends != tracer_ends_at(a);
	}
	printf("%u of %d filters ended a process, the tracer was wrong about %u\n", ended, FILTERS,
	       differ);
	return differ > 0 || ended < FILTERS / 10 || ended > FILTERS * 9 / 10;
}
