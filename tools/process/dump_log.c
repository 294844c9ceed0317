/* dump_log.c - see dump_log.h. */
#include "tools/process/dump_log.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "report/format.h"
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"

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

/* Returns the files that match the patterns of LOG now.  The caller releases them by globfree. */
static glob_t find_files(const struct dump_log *log)
{
	glob_t files = {0};
	for (size_t i = 0; i < log->pattern_count; i++)
		glob(log->patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
	return files;
}

/* Opens the file PATH.  Returns a descriptor and sets *STATUS, or a negative number. */
static int open_file(const char *path, struct stat *status)
{
	int fd = open_regular(path);
	if (fd < 0 || fstat(fd, status) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Returns the search of the file FD with STATUS.  It begins again if the file was truncated or is a
 * new one. */
static struct dump_search *search_of(struct dump_log *log, int fd, const struct stat *status)
{
	struct dump_search *search = NULL;
	for (size_t i = 0; i < log->search_count && !search; i++)
		if (log->searches[i].before.st_dev == status->st_dev &&
		    log->searches[i].before.st_ino == status->st_ino)
			search = &log->searches[i];
	if (!search) {
		GROW(log->searches, log->search_room, log->search_count + 1);
		search = &log->searches[log->search_count++];
		*search = (struct dump_search){.before = *status};
	}
	char head[sizeof search->head];
	const ssize_t length = pread(fd, head, sizeof head, 0);
	const size_t head_size = length > 0 ? (size_t)length : 0;
	if (search->at > status->st_size || head_size < search->head_size ||
	    memcmp(head, search->head, search->head_size) != 0) {
		search->at = 0;
		search->was_truncated = true;
	}
	memcpy(search->head, head, head_size);
	search->head_size = head_size;
	return search;
}

/* Adds PATTERN, and the name that the process gives to a log that is full (log_max=). */
static void add_patterns(struct arena *arena, struct dump_log *log, const char *pattern)
{
	log->patterns[log->pattern_count++] = pattern;
	log->patterns[log->pattern_count++] = arena_format(arena, "%s.1", pattern);
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

/* Notes in LOG who reads the file that its patterns name, if it is there.  Each pattern has one for
 * the full log behind it. */
static void find_reader_of_file(struct dump_log *log)
{
	struct stat status;

	for (size_t i = 0; i < log->pattern_count; i += 2) {
		glob_t files = {0};
		bool is_there = glob(log->patterns[i], 0, NULL, &files) == 0 &&
		                lstat(files.gl_pathv[0], &status) == 0;
		globfree(&files);
		if (is_there) {
			find_reader(log, &status);
			return;
		}
	}
}

/* Returns true if LOG, as in the option log=, may name several files. */
static bool has_wildcard(const char *log)
{
	for (const char *p = strchr(log, '%'); p && p[1]; p = strchr(p + 2, '%'))
		if (p[1] == 'n' || p[1] == 'h')
			return true;
	return false;
}

struct dump_log dump_log_find(struct arena *arena, const struct target_process *process)
{
	struct dump_log log = {.name = process->log};
	struct stat status;

	if (strcmp(process->log, "stderr") == 0) {
		find_standard_error(arena, process, &log);
	} else if (process->announced) {
		add_patterns(arena, &log, log_pattern(arena, &log, process, "root", ""));
	} else {
		/* A relative path begins at the folder where the program was started.  The program
		 * may have left that folder. */
		const char *folders[] = {
		        "cwd",
		        arena_format(arena, "root%s", quote_for_glob(arena, process->started_in))};
		size_t folder_count = process->log[0] == '/' || !*process->started_in ? 1 : 2;
		for (size_t i = 0; i < 2 * folder_count; i++)
			add_patterns(arena, &log,
			             log_pattern(arena, &log, process, folders[i / 2],
			                         process_name(arena, process->pid, i % 2 == 0)));
	}
	glob_t files = find_files(&log);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		int fd = open_file(files.gl_pathv[i], &status);
		if (fd < 0)
			continue;
		search_of(&log, fd, &status)->at = status.st_size;
		close(fd);
	}
	if (strcmp(process->log, "stderr") != 0 && !has_wildcard(process->log))
		find_reader_of_file(&log);
	globfree(&files);
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

/* -- reading the dump -------------------------------------------------------------------------- */

/* A line of the tracer ends in the last LEAKWRAP_LINE_MAX bytes of a line of the file. */
#define LINE_ROOM ((size_t)2 * LEAKWRAP_LINE_MAX)

/* So many bytes of other programs are read at most before the caller looks at the time again. */
#define FOREIGN_MAX ((off_t)64 << 20)

/* The lines of a log. */
struct lines {
	FILE *stream;
	char line[LINE_ROOM]; /* the end of the present line */
	size_t length;
	off_t at;         /* the place behind it in the file */
	off_t own_end;    /* the place behind the last line of the process */
	char prefix[64];  /* of the lines of the process */
	const char *own;  /* in LINE: a line of the process; NULL: none.  In front may stand a line
	                   * of another program that lacks its end */
	const char *rest; /* behind "[PID.N" */
};

/* Reads the next line, which has its end.  Returns false if there is none, or after FOREIGN_MAX
 * bytes without a line of the process. */
static bool read_line(struct lines *lines)
{
	int c = EOF;

	lines->length = 0;
	while (lines->at - lines->own_end < FOREIGN_MAX &&
	       (c = getc_unlocked(lines->stream)) != EOF) {
		if (lines->length == LINE_ROOM) {
			lines->length = LINE_ROOM / 2;
			memcpy(lines->line, lines->line + LINE_ROOM / 2, LINE_ROOM / 2);
		}
		lines->line[lines->length++] = (char)c;
		lines->at++;
		if (c != '\n')
			continue;
		lines->own =
		        memmem(lines->line, lines->length, lines->prefix, strlen(lines->prefix));
		lines->rest = lines->own
		                      ? memchr(lines->own, ']',
		                               (size_t)(lines->line + lines->length - lines->own))
		                      : NULL;
		if (lines->rest)
			lines->own_end = lines->at;
		return true;
	}
	return false;
}

/* Returns true if the rest of LINES's present line begins with TEXT. */
static bool rest_is(const struct lines *lines, const char *text)
{
	const size_t left = (size_t)(lines->line + lines->length - lines->rest);
	return left >= strlen(text) && memcmp(lines->rest, text, strlen(text)) == 0;
}

static bool holds(const char *text, size_t size, const char *wanted)
{
	return memmem(text, size, wanted, strlen(wanted)) != NULL;
}

/* The text of a dump, as far as it was read. */
struct dump_text {
	char *bytes;
	size_t size, room;
	bool is_begun, has_kinds;
	off_t start; /* in the file */
};

/* Adds the present line of LINES, one of the process.  Returns true if the dump is whole. */
static bool add_line(struct dump_text *dump, const struct lines *lines)
{
	const size_t size = (size_t)(lines->line + lines->length - lines->own);

	/* Lines before this one belong to a dump that was already being written.  Reports of misuse
	 * do not count. */
	if (rest_is(lines, "] dump ")) {
		dump->is_begun = !holds(lines->own, size, " reason=misuse ");
		dump->has_kinds = false;
		dump->size = 0;
		dump->start = lines->at - (off_t)lines->length;
	}
	if (!dump->is_begun)
		return false;
	GROW(dump->bytes, dump->room, dump->size + size);
	memcpy(dump->bytes + dump->size, lines->own, size);
	dump->size += size;
	/* A dump says in a note why it has no kinds. */
	if (rest_is(lines, "] kinds ") || rest_is(lines, "] note lost memory is not told "))
		dump->has_kinds = true;
	return rest_is(lines, "] end ");
}

/* Goes on with SEARCH of the file STREAM.  Returns as dump_log_read. */
static char *search_file(const struct target_process *process, FILE *stream,
                         struct dump_search *search, bool kinds, size_t *size)
{
	struct lines *lines = xmalloc(sizeof *lines);
	struct dump_text dump = {0};
	bool is_whole = false;

	lines->stream = stream;
	lines->at = lines->own_end = search->at;
	snprintf(lines->prefix, sizeof lines->prefix, "%s%lu.", LEAKWRAP_LINE_PREFIX,
	         process->inner_pid);
	fseeko(stream, search->at, SEEK_SET);
	while (!is_whole && read_line(lines)) {
		if (!lines->rest || !add_line(&dump, lines))
			continue;
		is_whole = !kinds || dump.has_kinds;
		dump.is_begun = is_whole;
	}
	/* The next search begins with the dump, or with a line that lacks its end now.  A dump in
	 * which FOREIGN_MAX other bytes stand is given up. */
	if (lines->at - lines->own_end >= FOREIGN_MAX)
		search->at = lines->at;
	else if (dump.is_begun)
		search->at = dump.start;
	else
		search->at = lines->at - (off_t)lines->length;
	free(lines);
	if (!is_whole) {
		free(dump.bytes);
		return NULL;
	}
	*size = dump.size;
	return dump.bytes;
}

/* Searches the file PATH if it has grown. */
static char *search_path(const struct target_process *process, struct dump_log *log,
                         const char *path, bool kinds, size_t *size)
{
	struct stat status;
	int fd = open_file(path, &status);
	if (fd < 0)
		return NULL;
	struct dump_search *search = search_of(log, fd, &status);
	FILE *stream = status.st_size > search->at ? fdopen(fd, "r") : NULL;
	if (!stream) {
		close(fd);
		return NULL;
	}
	char *dump = search_file(process, stream, search, kinds, size);
	fclose(stream);
	return dump;
}

char *dump_log_read(const struct target_process *process, struct dump_log *log, bool kinds,
                    size_t *size)
{
	glob_t files = find_files(log);
	char *dump = NULL;
	for (size_t i = 0; i < files.gl_pathc && !dump; i++)
		dump = search_path(process, log, files.gl_pathv[i], kinds, size);
	globfree(&files);
	return dump;
}

/* Writing makes a file longer.  One that has changed, and is no longer than before, was truncated,
 * even if it was written to before that. */
bool dump_log_was_truncated(const struct dump_log *log)
{
	glob_t files = find_files(log);
	bool was_truncated = false;

	for (size_t i = 0; i < log->search_count; i++)
		was_truncated |= log->searches[i].was_truncated;
	for (size_t i = 0; i < files.gl_pathc && !was_truncated; i++) {
		struct stat now;
		if (stat(files.gl_pathv[i], &now) != 0)
			continue;
		for (size_t j = 0; j < log->search_count; j++) {
			const struct stat *before = &log->searches[j].before;
			was_truncated |= before->st_dev == now.st_dev &&
			                 before->st_ino == now.st_ino &&
			                 before->st_size >= now.st_size &&
			                 (before->st_mtim.tv_sec != now.st_mtim.tv_sec ||
			                  before->st_mtim.tv_nsec != now.st_mtim.tv_nsec);
		}
	}
	globfree(&files);
	return was_truncated;
}

void dump_log_free(struct dump_log *log)
{
	for (size_t i = 0; i < log->held_count; i++)
		close(log->held[i]);
	free(log->searches);
}
