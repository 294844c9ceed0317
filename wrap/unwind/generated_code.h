/* generated_code.h - code that the program generates at run time: it lies in no module.
 *
 * Just-in-time compilers write such code into memory of their own.  Nothing lists it.  But its
 * memory is executable, and is read for this reason alone (other_code.h): data that a word of the
 * stack points to may be unmapped by another thread at any time.  Then the code itself must show
 * that the word may be a return address into it.  May run in signal handlers and waits for no lock.
 * With an unwind option other than auto there is no such code.
 *
 * Known limit: another thread may unmap the code to which an old word of the stack leads, between
 * the system call that probes its page, once in a walk, and the reading.
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
 * executable memory, in no module and not on STACK, and behind a call.  Then *CODE bounds the pages
 * of the call and of WORD: only they certainly stay mapped while a frame returns to WORD.  *TARGET
 * becomes the address that the call calls, or 0 if it is through a register.  Makes at most four
 * system calls.  Makes none for pages that this walk has asked for, and none if WORD does not lie
 * in executable memory.  It makes more where the executable memory is read anew.  Without an
 * operating system returns false. */
#ifndef LEAKWRAP_BARE
bool leakwrap_is_generated_return(const struct leakwrap_stack *stack, uintptr_t word,
                                  struct leakwrap_code *code, uintptr_t *target);

/* Begins a walk of this thread: forgets the pages that the last walk has found readable.  A signal
 * handler's walk may do so in the midst of another, which then asks again. */
void leakwrap_forget_code_pages(void);

/* Sets the bounds in *CODE to the page of PC, at which a signal has interrupted generated code.
 * THUMB: as of struct leakwrap_code.  Returns false if PC lies in a module, or in no executable
 * memory.  Makes two system calls, and more where the executable memory is read anew.  Without an
 * operating system returns false. */
bool leakwrap_find_interrupted_code(uintptr_t pc, bool thumb, struct leakwrap_code *code);

/* Returns whether PC, at which the walk of STACK has ended, may be a return address in generated
 * code that is not known yet.  Then the walk should not be remembered.  Makes a system call if so,
 * and more where the executable memory is read anew. */
bool leakwrap_may_be_generated_later(const struct leakwrap_stack *stack, uintptr_t pc);
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

static inline bool leakwrap_may_be_generated_later(const struct leakwrap_stack *stack, uintptr_t pc)
{
	(void)stack, (void)pc;
	return false;
}
#endif

#endif
