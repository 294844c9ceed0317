/* log_path.h - the value of the option log=. */
#ifndef LEAKWRAP_LOG_PATH_H
#define LEAKWRAP_LOG_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Writes what the LENGTH bytes at VALUE mean to LOG, which has LEAKWRAP_LOG_MAX bytes: "stderr", or
 * an absolute path with conversions (leakwrap_options.log).  A relative path begins in the current
 * folder.  Returns false if VALUE has an unknown conversion, or if there is no room: then LOG has
 * no meaning. */
bool leakwrap_log_path_set(char *log, const char *value, size_t length);

#endif
