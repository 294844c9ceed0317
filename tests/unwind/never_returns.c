/* never_returns.c - takes backtraces through functions that end with a call that never returns.
 * Nothing in their code says how they would take their frames down. Compiled without tables. */
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
/* Loads a constant that lies behind the function. Read as Thumb code, it is a branch into the
 * middle of the next function. */
#define LOAD_CONSTANT() __asm__ volatile("ldr r0, =0x0123d010" ::: "r0")
#else
#define LOAD_CONSTANT() (void)0
#endif

#define NEVER_RETURNS(NAME, ROOM)                                                                 \
	__attribute__((noinline, section(".text." #NAME))) int NAME(unsigned at)                  \
	{                                                                                         \
		volatile char room[ROOM];                                                         \
                                                                                                  \
		LOAD_CONSTANT();                                                                  \
		wanted[at] = (uintptr_t)__builtin_return_address(0) & ~(uintptr_t)1;              \
		room[0] = (char)at;                                                               \
		room[0] =                                                                         \
		        (char)(at + 1 == DEPTH ? take(at)                                         \
		                               : steps[(order >> 2 * at) % 3](at + 1) + room[0]); \
		longjmp(back, 1 + room[0]);                                                       \
	}

NEVER_RETURNS(small, 8)
NEVER_RETURNS(middle, 100)

/* Has another frame than the functions that never return. */
__attribute__((noinline, section(".text.returns"))) int returns(int last)
{
	volatile char room[500];

	memset((char *)room, last, sizeof(room));
	room[last] = 1;
	return printf("%d\n", room[last] + room[0]) + room[1];
}

NEVER_RETURNS(large, 1500)

#ifdef __arm__

int lost(unsigned at);
void leave(void);

/* clang lets a function that never returns store no return address, so nobody can know its caller.
 * With the frame of the function before it, a return address seems to lie 64 + 8 bytes above. */
__asm__(".pushsection .text.lost, \"ax\", %progbits\n"
        ".syntax unified\n"
        "before:\n"
        "	push {r4, lr}\n"
        "	sub sp, sp, #64\n"
        "	bl returns\n"
        "	add sp, sp, #64\n"
        "	pop {r4, pc}\n"
        ".type lost, %function\n"
        "lost:\n"
        "	sub sp, sp, #8\n"
        "	bl take\n"
        "	bl leave\n"
        ".align 2\n"
        ".word 0\n"
        ".popsection\n");

__attribute__((noinline)) void leave(void)
{
	longjmp(back, 1);
}

/* Calls lost on a stack that has WORD wherever the walk looks for its return address. */
static __attribute__((noinline)) int call_lost(uintptr_t word)
{
	volatile uintptr_t room[64];

	for (unsigned i = 0; i < 64; i++)
		room[i] = word;
	return lost(0) + (int)room[0];
}

/* One stack seemed to support a frame. A second stack does not support it, so the walk must not use
 * this frame there: a stack that seemed to end there would be called complete. */
static int goes_on(void)
{
	const uintptr_t here = (uintptr_t)__builtin_return_address(0);

	if (setjmp(back) == 0)
		call_lost(here);
	if (setjmp(back) == 0)
		call_lost(0);
	return found_count > 1;
}

/* Takes a backtrace. If SPOILS, first clears the Thumb bit in its return address. */
static __attribute__((noinline)) void take_spoilt(int spoils)
{
	const uintptr_t bit = 1, address = (uintptr_t)__builtin_return_address(0);
	volatile uintptr_t inverted = ~address, *at = &inverted;

	while (*at != ~inverted)
		at++;
	*at &= ~(spoils ? bit : 0);
	take(0);
	*at = ~inverted;
}

/* Read as ARM code, an address behind no call is a thread's end for the walk. As Thumb code it is
 * not. */
static int goes_on_after_spoilt(void)
{
	for (volatile int spoils = 1; spoils >= 0; spoils--)
		take_spoilt(spoils);
	return found_count > 3;
}

#else

static int goes_on_after_spoilt(void)
{
	return 1;
}

static int goes_on(void)
{
	return 1;
}

#endif

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
	if (!goes_on() || !goes_on_after_spoilt()) {
		printf("a stack ends too early\n");
		wrong++;
	}
	printf("%u wrong\n", wrong);
	return wrong != 0;
}
