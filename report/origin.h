/* origin.h - whose code made an allocation: the program's, or that of the system's static
 * libraries. */
#ifndef LEAKWRAP_ORIGIN_H
#define LEAKWRAP_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

/* A dump begins: forgets the answers of the dump before. */
void leakwrap_origin_start(void);

/* Returns whether the functions of a static program can be told.  Signal-safe, as below. */
bool leakwrap_origin_is_known(void);

/* Returns whether the call before the return address PC is in a function of the C or C++ library
 * that the program was linked with statically.  Where that cannot be told the code is the
 * program's, as in a stripped program. Signal-safe; one thread at a time (that of the dump). */
bool leakwrap_is_system_code(uintptr_t pc);

#endif
