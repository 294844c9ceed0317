/* start_code.c - see start_code.h. */
#include "wrap/unwind/start_code.h"

#include "wrap/arch/arch.h"
#include "wrap/unwind/return_address.h"

#if LEAKWRAP_HAVE_RULES

/* The start code of the program, which is short and written in assembly.  In a shared object the
 * symbol may be unknown. */
extern const char _start[] __attribute__((weak));

/* The C library's start code of a thread; also short assembly. */
extern const char __clone[] __attribute__((weak));

#ifdef LEAKWRAP_BARE /* newlib's start code for ARM sets up the stacks and asks the debugger */
#define START_SIZE  336
#define START_CALLS 10
#else
#define START_SIZE  256
#define START_CALLS 2 /* the last one calls the first function in C, or the thread's function */
#endif

/* Returns true if PC is the return address of one of the first CALLS calls of the function at
 * START.  The function must not store a return address before PC, and must not end there. */
static bool is_among_calls(const struct leakwrap_code *code, uintptr_t start, unsigned calls,
                           uintptr_t pc)
{
	struct leakwrap_instruction instruction;

	for (uintptr_t at = start; at < pc && calls > 0; at += instruction.size) {
		leakwrap_decode(code, at, &instruction);
		if (leakwrap_stores_return(&instruction)) /* another function */
			return false;
		/* Where calls push, no instruction stores the return address.  There a halt ends
		 * the program's start code. */
		if (LEAKWRAP_CALL_PUSHES && instruction.flow == LEAKWRAP_FLOW_END)
			return false;
		calls -= instruction.flow == LEAKWRAP_FLOW_CALL;
		if (instruction.flow == LEAKWRAP_FLOW_CALL && at + instruction.size == pc)
			return true;
	}
	return false;
}

bool leakwrap_is_start(uintptr_t pc)
{
	const uintptr_t starts[] = {(uintptr_t)_start, (uintptr_t)__clone};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		/* A missing symbol is 0.  Some programs without an operating system begin at 0. */
		const struct leakwrap_module *module =
		        starts[i] != 0 ? leakwrap_text_at(starts[i], true) : NULL;
		struct leakwrap_code code;

		if (!module || pc <= LEAKWRAP_STRIP(starts[i]) || pc - starts[i] > START_SIZE)
			continue;
		code = leakwrap_code_of(module, starts[i]);
		if (is_among_calls(&code, LEAKWRAP_STRIP(starts[i]), START_CALLS, pc))
			return true;
	}
	return false;
}

#define START_MAX 8 /* instructions between the call of a thread's function and the system call */

bool leakwrap_ends_thread(const struct leakwrap_code *code, uintptr_t pc)
{
	struct leakwrap_instruction instruction;

	for (unsigned i = 0; i < START_MAX; i++, pc += instruction.size) {
		leakwrap_decode(code, pc, &instruction);
		if (instruction.flow != LEAKWRAP_FLOW_NEXT)
			return instruction.flow == LEAKWRAP_FLOW_SYSTEM;
	}
	return false;
}

bool leakwrap_is_start_word(uintptr_t word)
{
	const uintptr_t pc = LEAKWRAP_STRIP(word);
	const struct leakwrap_module *module = leakwrap_text_at(pc, false);
	struct leakwrap_code code;

	/* The module may have been unloaded since the word was found. */
	if (!module || leakwrap_is_start(pc))
		return module != NULL;
	code = leakwrap_code_of(module, word);
	return leakwrap_ends_thread(&code, pc);
}

#endif
