/* wraps_complete.c - a mark for programs that were linked with all of the wraps, not with a choice.
 *
 * linker-flags.mk asks the linker for the symbol; misuse.c tests whether it is there. */
#include "wrap/misuse/misuse.h"

const char leakwrap_wraps_are_complete = 1;
