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

/* Returns whether a block belongs to a C or C++ library that is linked into the program statically:
 * PCS are the DEPTH return addresses of its backtrace, innermost first.  A block that the library
 * made for its caller belongs to the caller.  Where the owner cannot be told it is the program, as
 * in a stripped program.  Signal-safe; one thread at a time (that of the dump). */
bool leakwrap_is_kept_by_system(const uintptr_t *pcs, unsigned depth);

#endif
