/* target.h - whether a compiler links for the target of a runtime. */
#ifndef TOOLS_COMMAND_TARGET_H
#define TOOLS_COMMAND_TARGET_H

#include "tools/command/link.h"

/* Ends the tool with a message if the words of COMPILER name another processor than that of
 * ARCHIVE, or musl or uClibc-ng, and the archive was built for glibc. */
void check_target(const struct arguments *compiler, const char *archive);

#endif
