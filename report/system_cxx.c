/* system_cxx.c - the list of the C++ library's functions (origin.c), for programs that are linked
 * with it statically.
 *
 * A member of the archive by itself: C programs do without.  -u of leakwrap_system_cxx takes it
 * into the link. */
#include "report/format.h"

#include "system_cxx.h"
