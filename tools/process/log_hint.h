/* log_hint.h - why a process may not have written the dump that it was asked for. */
#ifndef TOOLS_PROCESS_LOG_HINT_H
#define TOOLS_PROCESS_LOG_HINT_H

#include "tools/process/dump_log.h"

/* Returns why the dump of PROCESS may not have come to LOG, as the end of a message.  The process
 * may have another root folder, a seccomp filter or a limit of its files.  Its user may have no
 * right to write the log.  The log's folder may be missing or full.  Returns "" if none of these is
 * known.  Strings come from ARENA. */
const char *log_hint(struct arena *arena, const struct target_process *process,
                     const struct dump_log *log);

#endif
