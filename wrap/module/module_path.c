/* module_path.c - see module_path.h. */
#include "wrap/module/module_path.h"

#include "wrap/base/arena.h"
#include "wrap/base/common.h"
#include "wrap/port/port.h"

#include <limits.h>
#include <string.h>

static bool is_relative(const char *name)
{
	return name[0] != '/' && strchr(name, '/');
}

/* Returns NAME without the current folder's own name in front. */
static const char *without_dot(const char *name)
{
	while (name[0] == '.' && name[1] == '/')
		for (name += 2; *name == '/'; name++)
			;
	return name;
}

size_t leakwrap_module_path_folder(const char *name, char *folder, size_t size)
{
	size_t length;

	if (!is_relative(name) || !leakwrap_current_folder(folder, size - 1))
		return 0;
	length = strlen(folder);
	if (length > 1)
		folder[length++] = '/';
	return length;
}

char *leakwrap_module_path_make(const char *name)
{
	static LEAKWRAP_TABLE char folder[PATH_MAX]; /* one thread at a time */
	const size_t before = leakwrap_module_path_folder(name, folder, sizeof(folder));
	const char *const rest = before > 0 ? without_dot(name) : name;
	const size_t size = strlen(rest) + 1;
	char *const path = leakwrap_arena_take(before + size);

	if (!path)
		return NULL;
	memcpy(path, folder, before);
	memcpy(path + before, rest, size);
	return path;
}

void leakwrap_module_path_free(char *path)
{
	if (path)
		leakwrap_arena_give(path, strlen(path) + 1);
}

bool leakwrap_module_path_is_of(const char *path, const char *name)
{
	const char *const rest = without_dot(name);
	const size_t length = strlen(path), of_rest = strlen(rest);

	if (!is_relative(name) || length <= of_rest || path[0] != '/')
		return strcmp(path, name) == 0;
	return path[length - of_rest - 1] == '/' && strcmp(path + length - of_rest, rest) == 0;
}
