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

/* Returns whether a block belongs to a C or C++ library that the program was linked with statically:
 * PCS are the DEPTH return addresses of its backtrace, innermost first.  A block that the library
 * made for its caller belongs to the caller.  Where the owner cannot be told it is the program, as
 * in a stripped program.  Signal-safe; one thread at a time (that of the dump). */
bool leakwrap_is_kept_by_system(const uintptr_t *pcs, unsigned depth);

#endif
