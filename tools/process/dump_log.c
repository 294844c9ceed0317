/* dump_log.c - see dump_log.h. */
#include "tools/process/dump_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "report/format.h"

/* -- finding the files ------------------------------------------------------------------------- */

/* Returns the pattern of glob(3) that matches TEXT alone. */
static const char *quote_for_glob(struct arena *arena, const char *text)
{
	char *pattern = arena_alloc(arena, 2 * strlen(text) + 1), *p = pattern;
	for (; *text; text++) {
		if (strchr("*?[\\", *text))
			*p++ = '\\';
		*p++ = *text;
	}
	return pattern;
}

/* Opens the file or folder PATH, which is under /proc/PID, and LOG holds it.  Returns a path of it
 * that stays valid when the process has ended.  Returns PATH if it cannot be opened. */
static const char *hold_open(struct arena *arena, struct dump_log *log, const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return path;
	log->held[log->held_count++] = fd;
	return arena_format(arena, "/proc/self/fd/%d", fd);
}

/* Returns a pattern of glob(3) for the log of PROCESS, in which %e stands for NAME.  A relative
 * path begins at FOLDER of /proc/PID. */
static const char *log_pattern(struct arena *arena, struct dump_log *log,
                               const struct target_process *process, const char *folder,
                               const char *name)
{
	char *path = NULL;
	size_t room = 0, length = 0;

	for (const char *p = process->log; *p; p++) {
		const char *piece = NULL;
		char plain[2] = {*p, '\0'};
		if (*p == '%' && p[1] == 'p')
			piece = arena_format(arena, "%lu", process->inner_pid);
		else if (*p == '%' && (p[1] == 'n' || p[1] == 'h'))
			piece = "*";
		else if (*p == '%' && p[1] == '%')
			piece = "%";
		else if (*p == '%' && p[1] == 'e')
			piece = quote_for_glob(arena, name);
		p += piece != NULL;
		if (!piece)
			piece = quote_for_glob(arena, plain);
		GROW(path, room, length + strlen(piece) + 1);
		memcpy(path + length, piece, strlen(piece) + 1);
		length += strlen(piece);
	}
	const char *start =
	        process_path(arena, process->pid, process->log[0] == '/' ? "root" : folder);
	if (process->log[0] == '/')
		start = hold_open(arena, log, start);
	const char *pattern = arena_format(arena, "%s/%s", start, path ? path : "");
	free(path);
	return pattern;
}

/* Returns the state of the file PATH; all 0 if there is no such file. */
static struct stat state_of(const char *path)
{
	struct stat status = {0};
	return stat(path, &status) == 0 ? status : (struct stat){0};
}

/* Returns the files that match the patterns of LOG now. */
static glob_t find_files(const struct dump_log *log)
{
	glob_t files = {0};
	for (size_t i = 0; i < log->pattern_count; i++)
		glob(log->patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
	return files;
}

/* Notes in LOG who reads a log with STATUS. */
static void find_reader(struct dump_log *log, const struct stat *status)
{
	static const struct {
		mode_t type;
		enum dump_reader reader;
		const char *what;
	} types[] = {
	        {S_IFIFO, READ_BY_OTHERS, "a pipe"},
	        {S_IFSOCK, READ_BY_OTHERS, "a socket"},
	        {S_IFCHR, READ_BY_OTHERS, "a device"},
	        {S_IFBLK, READ_BY_OTHERS, "a device"},
	        {S_IFDIR, READ_BY_NOBODY, "a folder"},
	        {S_IFLNK, READ_BY_NOBODY, "a symbolic link, which is not followed"},
	};
	/* /dev/null, /dev/zero and /dev/full */
	const dev_t empty[] = {makedev(1, 3), makedev(1, 5), makedev(1, 7)};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if ((status->st_mode & S_IFMT) != types[i].type)
			continue;
		log->reader = types[i].reader;
		log->what = types[i].what;
	}
	for (size_t i = 0; S_ISCHR(status->st_mode) && i < sizeof empty / sizeof *empty; i++) {
		if (status->st_rdev != empty[i])
			continue;
		log->reader = READ_BY_NOBODY;
		log->what = "which keeps nothing";
	}
}

/* Finds out what the standard error of PROCESS is, the name of LOG included. */
static void find_standard_error(struct arena *arena, const struct target_process *process,
                                struct dump_log *log)
{
	const char *fd = process_path(arena, process->pid, "fd/2");
	char target[4096];
	struct stat status;

	log->name = "its standard error";
	if (stat(fd, &status) != 0) {
		log->reader = errno == ENOENT ? READ_BY_NOBODY : READ_BY_OTHERS;
		log->what = errno == ENOENT ? "which is closed" : "which cannot be seen";
		return;
	}
	find_reader(log, &status);
	ssize_t length = readlink(fd, target, sizeof target - 1);
	if (log->reader == READ_BY_TOOL)
		log->patterns[log->pattern_count++] = hold_open(arena, log, fd);
	else if (length > 0)
		log->name = arena_format(arena, "its standard error, %.*s", (int)length, target);
}

struct dump_log dump_log_find(struct arena *arena, const struct target_process *process)
{
	struct dump_log log = {.name = process->log};
	struct stat status;

	if (strcmp(process->log, "stderr") == 0) {
		find_standard_error(arena, process, &log);
	} else if (process->announced) {
		log.patterns[log.pattern_count++] = log_pattern(arena, &log, process, "root", "");
	} else {
		/* A relative path begins at the folder where the program was started.  The program
		 * may have left that folder. */
		const char *folders[] = {
		        "cwd",
		        arena_format(arena, "root%s", quote_for_glob(arena, process->started_in))};
		size_t folder_count = process->log[0] == '/' || !*process->started_in ? 1 : 2;
		for (size_t i = 0; i < 2 * folder_count; i++)
			log.patterns[log.pattern_count++] =
			        log_pattern(arena, &log, process, folders[i / 2],
			                    process_name(arena, process->pid, i % 2 == 0));
	}
	log.files = find_files(&log);
	log.before = arena_alloc(arena, log.files.gl_pathc * sizeof *log.before);
	for (size_t i = 0; i < log.files.gl_pathc; i++)
		log.before[i] = state_of(log.files.gl_pathv[i]);
	if (log.files.gl_pathc > 0 && strcmp(process->log, "stderr") != 0 &&
	    lstat(log.files.gl_pathv[0], &status) == 0)
		find_reader(&log, &status);
	return log;
}

bool dump_log_is_read(const struct dump_log *log, const struct target_process *process)
{
	if (log->reader != READ_BY_NOBODY)
		return true;
	complain("no dump of process %d would reach anybody: its log is %s, %s; start it with "
	         "LEAKWRAP_OPTIONS=log=FILE",
	         process->pid, log->name, log->what);
	return false;
}

const char *dump_log_hint(struct arena *arena, const struct target_process *process)
{
	const char *root = process_path(arena, process->pid, "root");
	const char *slash = strrchr(process->log, '/');
	char target[4096];
	ssize_t length = readlink(root, target, sizeof target);
	struct stat status;

	if (process->log[0] != '/')
		return "";
	if (length > 0 && !(length == 1 && target[0] == '/'))
		return arena_format(arena,
		                    "; its root folder is %.*s, from where the log's path counts",
		                    (int)length, target);
	const char *folder =
	        arena_format(arena, "%s%.*s", root, (int)(slash - process->log), process->log);
	return strchr(folder, '%') || stat(folder, &status) == 0 || errno != ENOENT
	               ? ""
	               : "; the log's folder is not there";
}

/* -- reading the dump -------------------------------------------------------------------------- */

/* Returns the size in bytes that the file with the state NOW had before the dump was asked for.
 * The log may have been renamed since (log_max=): a new file then has its name. */
static off_t size_before(const struct dump_log *log, const struct stat *now)
{
	for (size_t i = 0; i < log->files.gl_pathc; i++) {
		const struct stat *before = &log->before[i];
		if (before->st_dev == now->st_dev && before->st_ino == now->st_ino &&
		    before->st_size <= now->st_size)
			return before->st_size;
	}
	return 0;
}

/* Searches FILE from START on for a whole dump of PROCESS.  Reports of misuse do not count.
 * Returns as dump_log_read. */
static char *read_dump(const struct target_process *process, const char *file, off_t start,
                       size_t *dump_size)
{
	char prefix[64];
	FILE *stream = fopen(file, "re");
	char *line = NULL;
	size_t room = 0, kept_size = 0, kept_room = 0;
	char *kept = NULL;
	bool begun = false, whole = false;
	ssize_t length;

	if (!stream)
		return NULL;
	snprintf(prefix, sizeof prefix, "%s%lu.", LEAKWRAP_LINE_PREFIX, process->inner_pid);
	fseeko(stream, start, SEEK_SET);
	while (!whole && (length = getline(&line, &room, stream)) > 0 && line[length - 1] == '\n') {
		/* In front may stand a line of another program that lacks its end. */
		const char *own = memmem(line, (size_t)length, prefix, strlen(prefix));
		const char *rest = own ? strchr(own, ']') : NULL;
		if (!rest)
			continue;
		size_t size = (size_t)(line + length - own);
		/* Lines before this one belong to a dump that was already being written. */
		if (strncmp(rest, "] dump ", 7) == 0) {
			begun = memmem(own, size, " reason=misuse ", 15) == NULL;
			kept_size = 0;
		}
		if (!begun)
			continue;
		GROW(kept, kept_room, kept_size + size);
		memcpy(kept + kept_size, own, size);
		kept_size += size;
		whole = strncmp(rest, "] end ", 6) == 0;
	}
	free(line);
	fclose(stream);
	if (!whole) {
		free(kept);
		return NULL;
	}
	*dump_size = kept_size;
	return kept;
}

char *dump_log_read(const struct target_process *process, const struct dump_log *log, size_t *size)
{
	glob_t files = find_files(log);
	char *dump = NULL;
	for (size_t i = 0; i < files.gl_pathc && !dump; i++) {
		const struct stat now = state_of(files.gl_pathv[i]);
		const off_t before = size_before(log, &now);
		if (now.st_size > before)
			dump = read_dump(process, files.gl_pathv[i], before, size);
	}
	globfree(&files);
	return dump;
}

void dump_log_free(struct dump_log *log)
{
	for (size_t i = 0; i < log->held_count; i++)
		close(log->held[i]);
	globfree(&log->files);
}
