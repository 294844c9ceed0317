/* wraps_complete.c - a mark that linker-flags.mk asks the linker for: a program that has it was linked with all of
 * the wraps, not with a choice of them.  misuse.c looks whether it is there. */
#include "wrap/misuse/misuse.h"

const char leakwrap_wraps_are_complete = 1;
