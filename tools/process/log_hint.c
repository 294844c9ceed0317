/* log_hint.c - see log_hint.h. */
#include "tools/process/log_hint.h"

#include <glob.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "report/format.h"
#include "tools/base/memory.h"

/* Where the log is, or would be. */
struct place {
	const char *file;   /* NULL: not there */
	const char *folder; /* NULL: not there */
};

/* Returns a file that matches PATTERN, from ARENA, or NULL. */
static const char *first_match(struct arena *arena, const char *pattern)
{
	glob_t files = {0};
	const char *match = glob(pattern, 0, NULL, &files) == 0
	                            ? arena_format(arena, "%s", files.gl_pathv[0])
	                            : NULL;
	globfree(&files);
	return match;
}

/* Returns the place of LOG.  Each pattern has one for the full log behind it. */
static struct place find_place(struct arena *arena, const struct dump_log *log)
{
	struct place place = {0};

	for (size_t i = 0; i < log->pattern_count && !place.file; i += 2) {
		const char *pattern = log->patterns[i], *slash = strrchr(pattern, '/');
		place.file = first_match(arena, pattern);
		if (place.file || !place.folder)
			place.folder =
			        first_match(arena, arena_format(arena, "%.*s",
			                                        (int)(slash - pattern), pattern));
	}
	return place;
}

/* Returns the text behind FIELD of /proc/PID/NAME of PROCESS, or NULL. */
static const char *read_field(struct arena *arena, const struct target_process *process,
                              const char *name, const char *field)
{
	size_t size;
	const char *text = read_process_file(arena, process->pid, name, &size);
	const char *at = text ? strstr(text, field) : NULL;
	return at ? at + strlen(field) : NULL;
}

/* Reads the number that stands first in TEXT, which may be NULL, behind SKIP other numbers.
 * Returns false if there is none. */
static bool read_number(const char *text, unsigned skip, uint64_t *number)
{
	char *end = NULL;

	for (unsigned i = 0; text && i <= skip; i++) {
		*number = strtoull(text, &end, 10);
		text = end != text ? end : NULL;
	}
	return text != NULL;
}

/* Returns how large a file of PROCESS may become (RLIMIT_FSIZE). */
static uint64_t file_limit(struct arena *arena, const struct target_process *process)
{
	uint64_t bytes;

	return read_number(read_field(arena, process, "limits", "\nMax file size"), 0, &bytes)
	               ? bytes
	               : UINT64_MAX;
}

/* Returns whether PROCESS is in GROUP. */
static bool is_in_group(struct arena *arena, const struct target_process *process, gid_t group)
{
	const char *groups = read_field(arena, process, "status", "\nGroups:");
	uint64_t effective;
	char *end;

	if (read_number(read_field(arena, process, "status", "\nGid:"), 1, &effective) &&
	    effective == group)
		return true;
	for (unsigned long each; groups; groups = end) {
		each = strtoul(groups, &end, 10);
		if (end == groups || memchr(groups, '\n', (size_t)(end - groups)))
			return false;
		if (each == group)
			return true;
	}
	return false;
}

/* Returns whether PROCESS, whose effective user is USER, may do with PATH what WANTED says: bits of
 * the mode for others (inode(7)). */
static bool may_access(struct arena *arena, const struct target_process *process, uid_t user,
                       const char *path, mode_t wanted)
{
	struct stat status;

	if (!path || stat(path, &status) != 0)
		return true;
	if (status.st_uid == user)
		return (status.st_mode >> 6 & wanted) == wanted;
	if (is_in_group(arena, process, status.st_gid))
		return (status.st_mode >> 3 & wanted) == wanted;
	return (status.st_mode & wanted) == wanted;
}

/* Returns that the user of PROCESS may not write the log at PLACE, or "". */
static const char *access_hint(struct arena *arena, const struct target_process *process,
                               const struct place *place)
{
	const char *capabilities = read_field(arena, process, "status", "\nCapEff:");
	uint64_t effective;

	if (!read_number(read_field(arena, process, "status", "\nUid:"), 1, &effective) ||
	    !capabilities || (strtoull(capabilities, NULL, 16) >> CAP_DAC_OVERRIDE & 1) != 0)
		return "";
	const uid_t user = (uid_t)effective;
	if (!may_access(arena, process, user, place->folder,
	                place->file ? S_IXOTH : S_IWOTH | S_IXOTH))
		return arena_format(arena, "; its user %u may not write to the log's folder", user);
	if (!may_access(arena, process, user, place->file, S_IWOTH))
		return arena_format(arena, "; its user %u may not write the log", user);
	return "";
}

const char *log_hint(struct arena *arena, const struct target_process *process,
                     const struct dump_log *log)
{
	const char *root = process_path(arena, process->pid, "root");
	const bool is_named = strcmp(process->log, "stderr") != 0; /* else it is open */
	const struct place place = find_place(arena, log);
	char target[4096];
	ssize_t length = readlink(root, target, sizeof target);
	struct stat status;
	struct statvfs system;

	if (process->log[0] == '/' && length > 0 && !(length == 1 && target[0] == '/'))
		return arena_format(arena,
		                    "; its root folder is %.*s, from where the log's path counts",
		                    (int)length, target);
	if (access(root, X_OK) != 0)
		return ""; /* all is hidden from this user */
	if (!place.folder)
		return "; the log's folder is not there";
	if (statvfs(place.file ? place.file : place.folder, &system) == 0) {
		if ((system.f_flag & ST_RDONLY) != 0)
			return "; the log's file system is read-only";
		if (system.f_blocks > 0 && system.f_bavail == 0)
			return "; the log's file system is full";
	}
	if (place.file && stat(place.file, &status) == 0 &&
	    (uint64_t)status.st_size + LEAKWRAP_LINE_MAX > file_limit(arena, process))
		return "; the log is as large as a file of the process may be (ulimit -f)";
	const char *hint = is_named ? access_hint(arena, process, &place) : "";
	if (*hint)
		return hint;
	return is_named && has_filter(arena, process)
	               ? "; its seccomp filter may forbid to open the log, see leakwrap(7)"
	               : "";
}
