/* return_address.h - is a word of the stack a return address?
 *
 * One lies in the text of a module, right behind a call.  Asked by the walks about words that may be anything;
 * may run in signal handlers.
 */
#ifndef LEAKWRAP_RETURN_ADDRESS_H
#define LEAKWRAP_RETURN_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "wrap/arch/decode.h"
#include "wrap/module/modules.h"

/* The module whose text holds the call before PC (or PC itself, when INTERRUPTED), or NULL. */
const struct leakwrap_module *leakwrap_text_at(uintptr_t pc, bool interrupted);

/* What may be read of the code around an address of MODULE's text: nothing where that only runs.  WORD is the address as it was found: on ARM
 * its bit 0 tells Thumb code. */
struct leakwrap_code leakwrap_code_of(const struct leakwrap_module *module, uintptr_t word);

/* Addresses of MODULE's code that its data holds, as it does those of functions that are called
 * through pointers: the COUNT nearest ones that lie less than DISTANCE before PC, the nearest
 * first; 0 for each that is missing.  Reads all of the data: for what is asked once.  Not
 * without an operating system: there is no room for it. */
void leakwrap_pointers_before(const struct leakwrap_module *module, uintptr_t pc, uintptr_t distance,
                              uintptr_t *pointers, unsigned count);

/* Is WORD, as it stands on the stack, a return address?  TARGET is what the call before it calls, 0 when that was
 * in a register. */
bool leakwrap_is_return(uintptr_t word, uintptr_t *target);

#endif
