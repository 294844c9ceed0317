/* generated_code.h - code that the program generates at run time: it lies in no module.
 *
 * Just-in-time compilers write such code into memory of their own.  Nothing lists it.  So the code
 * itself must show that a word of the stack may be a return address into it.  May run in signal
 * handlers and takes no lock.
 */
#ifndef LEAKWRAP_GENERATED_CODE_H
#define LEAKWRAP_GENERATED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"
#include "wrap/unwind/stack_bounds.h"

/* Without an operating system all code is the program's. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_HAVE_GENERATED_CODE 0
#else
#define LEAKWRAP_HAVE_GENERATED_CODE 1
#endif

/* Returns true if WORD, as found on STACK, may be a return address in generated code: it lies in
 * no module and not on STACK, and behind a call in memory that can be read.  Data rarely looks like
 * that.  Then *CODE bounds the pages of the call and of WORD: only they certainly stay mapped while
 * a frame returns to WORD.  *TARGET becomes the address that the call calls, or 0 if it is through
 * a register.  At most four system calls.  Without an operating system always false. */
#ifndef LEAKWRAP_BARE
bool leakwrap_is_generated_return(const struct leakwrap_stack *stack, uintptr_t word,
                                  struct leakwrap_code *code, uintptr_t *target);

/* Sets the bounds in *CODE to the page of PC, at which a signal has interrupted generated code.
 * THUMB: as of struct leakwrap_code.  Returns false if PC lies in a module, or cannot be read.  One
 * system call.  Without an operating system always false. */
bool leakwrap_find_interrupted_code(uintptr_t pc, bool thumb, struct leakwrap_code *code);
#else
static inline bool leakwrap_is_generated_return(const struct leakwrap_stack *stack, uintptr_t word,
                                                struct leakwrap_code *code, uintptr_t *target)
{
	(void)stack, (void)word, (void)code, (void)target;
	return false;
}

static inline bool leakwrap_find_interrupted_code(uintptr_t pc, bool thumb,
                                                  struct leakwrap_code *code)
{
	(void)pc, (void)thumb, (void)code;
	return false;
}
#endif

#endif
