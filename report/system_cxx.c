/* system_cxx.c - the list of the C++ library's functions (origin.c), for programs that are linked
 * with that library statically.
 *
 * The list is a member of its own in the archive: C programs do not need it.  The linker option -u
 * leakwrap_system_cxx takes the member into the link. */
#include "report/system_lists.h"

#include "system_cxx.h"
