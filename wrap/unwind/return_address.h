/* return_address.h - decides whether a word of the stack is a return address.
 *
 * A return address lies in a module's text, right behind a call.  The walks ask about words that
 * may be any data.  All functions here may run in signal handlers and take no lock.
 */
#ifndef LEAKWRAP_RETURN_ADDRESS_H
#define LEAKWRAP_RETURN_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"
#include "wrap/module/module.h"

/* Returns the module whose text holds the call before PC, or PC itself if INTERRUPTED.  Returns
 * NULL if there is none or if it was unloaded.  The registry owns the module. */
const struct leakwrap_module *leakwrap_text_at(uintptr_t pc, bool interrupted);

/* Returns the bounds of the readable code around WORD, an address of MODULE's text.  The bounds are
 * empty if the text is executable but not readable.  WORD is the address as found on the stack: on
 * ARM its bit 0 marks Thumb code. */
struct leakwrap_code leakwrap_code_of(const struct leakwrap_module *module, uintptr_t word);

/* Collects pointers to code from MODULE's data; functions that are called through pointers have
 * such pointers.  Writes to POINTERS the COUNT addresses that are nearest before PC and less than
 * DISTANCE bytes away, the nearest first, then zeros.  Reads all of the data, so call it once per
 * result and keep that.  The bare-metal runtime has no room for such results and lacks this
 * function. */
void leakwrap_pointers_before(const struct leakwrap_module *module, uintptr_t pc,
                              uintptr_t distance, uintptr_t *pointers, unsigned count);

/* Returns true if WORD, as found on the stack, is a return address.  Sets *TARGET to the address
 * that the call before it calls, or to 0 if the call is through a register. */
bool leakwrap_is_return(uintptr_t word, uintptr_t *target);

/* Returns true if WORD, as found on the stack, is a return address of the tracer's own code.  Where
 * the runtime was built without objcopy, most of that code is not known.  Without an operating
 * system none of it is. */
#ifndef LEAKWRAP_BARE
bool leakwrap_is_own_return(uintptr_t word);

/* Returns true if WORD, as found on the stack, is a return address of glibc's loader behind a call
 * of TARGET.  It leads to no function of the module at PC then: the loader calls others through
 * pointers alone.  It leaves such words where it has looked a symbol up.  TARGET: 0 for a call
 * through a pointer. */
bool leakwrap_is_loaders_return(uintptr_t word, uintptr_t target, uintptr_t pc);
#else
static inline bool leakwrap_is_own_return(uintptr_t word)
{
	(void)word;
	return false;
}

static inline bool leakwrap_is_loaders_return(uintptr_t word, uintptr_t target, uintptr_t pc)
{
	(void)word, (void)target, (void)pc;
	return false;
}
#endif

#endif
