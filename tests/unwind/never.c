/* never.c - stacks through functions that call, and end with a call that never returns: how they would take their
 * frames down is nowhere to be read.  Compiled without tables. */
#include "leakwrap.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 8

typedef int step(unsigned at);

step small, middle, large;
int take(unsigned at);
int returns(int last);

static step *const steps[] = {small, middle, large};
static jmp_buf back;
static uintptr_t wanted[DEPTH];
static void *found[DEPTH + 16];
static size_t found_count;
static unsigned order;

__attribute__((noinline)) int take(unsigned at)
{
	found_count = leakwrap_backtrace(found, DEPTH + 16);
	__asm__ volatile("");
	return (int)at;
}

#ifdef __arm__
/* A constant that lies behind the function.  As Thumb code it is a branch into the middle of the next one. */
#define LOAD_CONSTANT() __asm__ volatile("ldr r0, =0x0123d010" ::: "r0")
#else
#define LOAD_CONSTANT() (void)0
#endif

#define NEVER_RETURNS(NAME, ROOM)                                                                   \
	__attribute__((noinline, section(".text." #NAME))) int NAME(unsigned at)                    \
	{                                                                                           \
		volatile char room[ROOM];                                                           \
                                                                                                    \
		LOAD_CONSTANT();                                                                    \
		wanted[at] = (uintptr_t)__builtin_return_address(0) & ~(uintptr_t)1;                \
		room[0] = (char)at;                                                                 \
		room[0] = (char)(at + 1 == DEPTH ? take(at)                                         \
		                                 : steps[(order >> 2 * at) % 3](at + 1) + room[0]); \
		longjmp(back, 1 + room[0]);                                                         \
	}

NEVER_RETURNS(small, 8)
NEVER_RETURNS(middle, 100)

/* Has another frame. */
__attribute__((noinline, section(".text.returns"))) int returns(int last)
{
	volatile char room[500];

	memset((char *)room, last, sizeof(room));
	room[last] = 1;
	return printf("%d\n", room[last] + room[0]) + room[1];
}

NEVER_RETURNS(large, 1500)

static int is_exact(void)
{
	if (found_count < DEPTH + 1)
		return 0;
	for (unsigned i = 0; i < DEPTH; i++)
		if ((uintptr_t)found[i + 1] != wanted[DEPTH - 1 - i])
			return 0;
	return 1;
}

int main(void)
{
	static unsigned wrong;

	for (order = 0; order < 1u << 14; order += 97) {
		if (setjmp(back) == 0)
			steps[order % 3](0);
		if (is_exact() || wrong++ > 0)
			continue;
		for (unsigned i = 0; i < DEPTH; i++)
			printf("  %p, wanted %lx\n", i + 1 < found_count ? found[i + 1] : NULL,
			       (unsigned long)wanted[DEPTH - 1 - i]);
	}
	printf("%u wrong\n", wrong);
	return wrong != 0;
}
