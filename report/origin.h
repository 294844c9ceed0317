/* origin.h - identifies the code that made an allocation: the program's own code, a shared library,
 * or the system's C and C++ libraries, static or shared. */
#ifndef LEAKWRAP_ORIGIN_H
#define LEAKWRAP_ORIGIN_H

#include <stdbool.h>

#include "wrap/module/module.h"
#include "wrap/unwind/trace.h"

/* Returns true if MODULE is the shared C++ library, or a part of it.  Signal-safe; for any
 * thread. */
bool leakwrap_is_cxx_library(const struct leakwrap_module *module);

/* The functions below are signal-safe, and are called by the thread that writes the dump. */

/* Discards the cached answers of the dump before.  Called when a dump begins. */
void leakwrap_origin_start(void);

/* Returns whether system functions can be identified.  Returns false for a static program without a
 * symbol table, and always in bare-metal builds. */
bool leakwrap_origin_is_known(void);

enum leakwrap_origin_kind {
	LEAKWRAP_ORIGIN_PROGRAM,
	LEAKWRAP_ORIGIN_LIBRARY, /* a shared library, but none of the system's */
	LEAKWRAP_ORIGIN_SYSTEM,  /* the C or C++ library, or the loader */
};

struct leakwrap_origin {
	enum leakwrap_origin_kind kind;
	const struct leakwrap_module *module; /* the library; NULL if KIND is not LIBRARY */
};

/* Returns on whose behalf a block with the backtrace TRACE was allocated.  A block that the C or
 * C++ library made for its caller belongs to the caller.  The module of a frame is that of the time
 * when TRACE was recorded, loaded or not.  Where the owner cannot be told it is the program, as in
 * a stripped static program. */
struct leakwrap_origin leakwrap_origin_of(const struct leakwrap_trace *trace);

#endif
