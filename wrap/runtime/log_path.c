/* log_path.c - see log_path.h. */
#include "wrap/runtime/log_path.h"

#include "wrap/base/options.h"
#include "wrap/port/port.h"

#include <string.h>

/* Returns whether each % of the LENGTH bytes at PATH begins a conversion that leakwrap_log_open
 * knows. */
static bool has_known_conversions(const char *path, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (path[i] == '%' && (++i == length || !strchr("pneh%", path[i])))
			return false;
	return true;
}

/* Doubles each % of PATH, which has room for ROOM bytes: it begins no conversion.  Returns false if
 * there is no room. */
static bool double_percents(char *path, size_t room)
{
	size_t from = strlen(path), to = from;

	for (const char *at = path; *at; at++)
		to += *at == '%';
	if (to >= room)
		return false;
	for (; to > from; from--) {
		path[to--] = path[from];
		if (path[from] == '%')
			path[to--] = '%';
	}
	return true;
}

bool leakwrap_log_path_set(char *log, const char *value, size_t length)
{
	static const char standard_error[] = "stderr";
	const bool is_path =
	        length != sizeof(standard_error) - 1 || memcmp(value, standard_error, length) != 0;
	size_t used = 0;

	if (length == 0 || !has_known_conversions(value, length))
		return false;
	/* A path is relative to the folder where the program was started: the program may change
	 * folders. */
	if (is_path && value[0] != '/') {
		if (!leakwrap_current_folder(log, LEAKWRAP_LOG_MAX - 2) ||
		    !double_percents(log, LEAKWRAP_LOG_MAX - 2))
			return false;
		used = strlen(log);
		log[used++] = '/';
	}
	if (length >= LEAKWRAP_LOG_MAX - used)
		return false;
	memcpy(log + used, value, length);
	log[used + length] = '\0';
	return true;
}
