/* sysroot.c - see sysroot.h.
 *
 * openat2(2) could resolve a path in a root, but Linux has it only since 5.6, and some sandboxes do
 * not have it.
 */
#include "tools/symbolize/sysroot.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/memory.h"

enum { LINKS_MAX = 40 }; /* as the kernel (path_resolution(7)) */

/* Returns FOUND without its last component, but not less than its first ROOT bytes. */
static const char *parent(struct arena *arena, const char *found, size_t root)
{
	const char *slash = strrchr(found + root, '/');
	return slash ? arena_copy(arena, found, (size_t)(slash - found)) : found;
}

const char *path_in_root(struct arena *arena, const char *root, const char *path)
{
	const char *found = root, *rest = path;
	size_t root_length = strlen(root);
	unsigned links = 0;

	for (;;) {
		char target[PATH_MAX];
		rest += strspn(rest, "/");
		size_t length = strcspn(rest, "/");
		if (length == 0)
			return found;
		const char *name = arena_copy(arena, rest, length);
		rest += length;
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			found = parent(arena, found, root_length);
			continue;
		}
		const char *next = arena_format(arena, "%s/%s", found, name);
		ssize_t size = readlink(next, target, sizeof target - 1);
		if (size < 0) {
			found = next;
			continue;
		}
		if (++links > LINKS_MAX)
			return NULL;
		target[size] = '\0';
		if (target[0] == '/')
			found = root;
		rest = arena_format(arena, "%s%s", target, rest);
	}
}
