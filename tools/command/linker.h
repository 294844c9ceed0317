/* linker.h - which linker a compiler calls.
 */
#ifndef TOOLS_COMMAND_LINKER_H
#define TOOLS_COMMAND_LINKER_H

#include <stdbool.h>

#include "tools/command/link.h"

/* Returns true if COMPILER, a command without -fuse-ld, calls ld.lld.  It asks the compiler, which
 * takes hundredths of a second.  Returns false if the compiler does not say. */
bool is_lld_the_default(const struct arguments *compiler);

#endif
