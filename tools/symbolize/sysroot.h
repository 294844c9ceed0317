/* sysroot.h - paths of the traced machine under a folder that is its /. */
#ifndef TOOLS_SYMBOLIZE_SYSROOT_H
#define TOOLS_SYMBOLIZE_SYSROOT_H

#include "tools/base/memory.h"

/* Returns the path of the file that PATH names if ROOT is /, as chroot(2) would find it: ".." ends
 * at ROOT, and so does an absolute symbolic link.  Beyond ROOT itself the result has no symbolic
 * links.  A missing file has a path too.  Returns NULL if there are too many links.  The string is
 * ARENA's. */
const char *path_in_root(struct arena *arena, const char *root, const char *path);

#endif
