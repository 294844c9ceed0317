/* clear_stack.h - overwrites what earlier calls have left on the stack and in vector registers: no
 * word of it keeps a block reachable. */
#ifndef CLEAR_STACK_H
#define CLEAR_STACK_H

#include <stddef.h>

#include "tests/noinline.h"

static NOINLINE void clear_stack(void)
{
	volatile char room[8192];

	for (size_t i = 0; i < sizeof room; i++)
		room[i] = 0;
#ifdef __SSE2__
#define CLEAR(name) __asm__ volatile("pxor %%" #name ", %%" #name : : : #name)
	CLEAR(xmm0);
	CLEAR(xmm1);
	CLEAR(xmm2);
	CLEAR(xmm3);
	CLEAR(xmm4);
	CLEAR(xmm5);
	CLEAR(xmm6);
	CLEAR(xmm7);
#ifdef __x86_64__
	CLEAR(xmm8);
	CLEAR(xmm9);
	CLEAR(xmm10);
	CLEAR(xmm11);
	CLEAR(xmm12);
	CLEAR(xmm13);
	CLEAR(xmm14);
	CLEAR(xmm15);
#endif
#undef CLEAR
#endif
}

#endif
