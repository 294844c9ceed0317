/* origin.h - identifies the code that made an allocation: the program's own code, or a function of
 * the system's static libraries. */
#ifndef LEAKWRAP_ORIGIN_H
#define LEAKWRAP_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

/* All functions are signal-safe, and are called by the thread that writes the dump. */

/* Discards the cached answers of the dump before.  Called when a dump begins. */
void leakwrap_origin_start(void);

/* Returns whether system functions can be identified.  Returns false for a static program without a
 * symbol table, and always in bare-metal builds. */
bool leakwrap_origin_is_known(void);

/* Returns whether the call before the return address PC is in a function of the C or C++ library
 * that the program was linked with statically.  Returns false if that cannot be identified, as in a
 * stripped program. */
bool leakwrap_is_system_code(uintptr_t pc);

#endif
