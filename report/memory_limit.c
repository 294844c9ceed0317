/* memory_limit.c - see memory_limit.h. */
#include "report/memory_limit.h"

#include "wrap/base/common.h"
#include "wrap/port/port.h"

#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

/* Names of the files, by version of cgroups. */
static const struct names {
	const char *mounted_at; /* where systems mount them */
	const char *limit, *used, *droppable;
} versions[] = {
        {"/sys/fs/cgroup", "memory.max", "memory.current", "\ninactive_file "},
        {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
         "\ntotal_inactive_file "},
};

/* A limit of this many bytes or more is none. */
#define NO_LIMIT  ((uint64_t)1 << 60)

#define PATH_ROOM 1024

/* The text of a file, too large for a stack.  HOLDER: the process whose thread has it, or 0. */
static LEAKWRAP_TABLE struct {
	atomic_int holder;
	char text[4096];
} file;

static struct {
	const struct names *names;
	char folder[PATH_ROOM];
} cgroup;

/* Reads FD, closes it, and ends what it has read into TEXT, which has SIZE bytes, with NUL.
 * Returns false if it cannot be read. */
static bool read_and_close(int fd, char *text, size_t size)
{
	long length;

	if (fd < 0)
		return false;
	length = leakwrap_read(fd, text, size - 1);
	leakwrap_close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* Does what read_and_close does, for the file NAME in FOLDER. */
static bool read_file(const char *folder, const char *name, char *text, size_t size)
{
	char path[PATH_ROOM + 64];

	strcpy(path, folder);
	strcat(path, "/");
	strcat(path, name);
	return read_and_close((int)leakwrap_open(path, O_RDONLY | O_CLOEXEC, 0), text, size);
}

/* Reads the decimal number at TEXT.  Returns false if there is none. */
static bool read_number(const char *text, uint64_t *number)
{
	if (*text < '0' || *text > '9')
		return false;
	for (*number = 0; *text >= '0' && *text <= '9' && *number < UINT64_MAX / 10 - 1; text++)
		*number = *number * 10 + (uint64_t)(*text - '0');
	return true;
}

static bool read_number_in(const char *folder, const char *name, uint64_t *number)
{
	char text[32];

	return read_file(folder, name, text, sizeof(text)) && read_number(text, number);
}

static bool has_limit(const char *folder, const struct names *names)
{
	uint64_t limit;

	return read_number_in(folder, names->limit, &limit) && limit < NO_LIMIT;
}

/* Takes the innermost limit of the folder PATH below the mount point of NAMES, and of the folders
 * above.  In a container the path may not be there, and its folder is the mount point. */
static bool take_innermost(const struct names *names, const char *path, size_t length)
{
	const size_t mounted = strlen(names->mounted_at);

	if (length >= PATH_ROOM - mounted)
		return false;
	strcpy(cgroup.folder, names->mounted_at);
	memcpy(cgroup.folder + mounted, path, length);
	cgroup.folder[mounted + length] = '\0';
	cgroup.names = names;
	while (!has_limit(cgroup.folder, names)) {
		char *slash = strrchr(cgroup.folder, '/');

		if (slash < cgroup.folder + mounted)
			return false;
		*slash = '\0';
	}
	return true;
}

/* Looks at a line of /proc/self/cgroup: "0::PATH" or "NUMBER:CONTROLLERS:PATH". */
static bool take_line(const char *line, size_t length)
{
	const char *end = line + length;
	const char *path = memchr(line, '/', length);

	if (!path)
		return false;
	if (length > 3 && memcmp(line, "0::", 3) == 0)
		return take_innermost(&versions[0], path, (size_t)(end - path));
	for (const char *at = line; at + 8 <= path; at++)
		if ((*at == ':' || *at == ',') && memcmp(at + 1, "memory", 6) == 0 &&
		    (at[7] == ':' || at[7] == ','))
			return take_innermost(&versions[1], path, (size_t)(end - path));
	return false;
}

static bool find_limit(const char *folder)
{
	if (*folder != '\0') {
		strcpy(cgroup.folder, folder);
		cgroup.names = has_limit(folder, &versions[0]) ? &versions[0] : &versions[1];
		return has_limit(folder, cgroup.names);
	}
	if (!read_and_close((int)leakwrap_proc_open("cgroup"), file.text, sizeof(file.text)))
		return false;
	for (const char *line = file.text; *line != '\0';) {
		const size_t length = strcspn(line, "\n");

		if (take_line(line, length))
			return true;
		line += length + (line[length] == '\n');
	}
	return false;
}

/* Returns false if another thread of this process has FILE.  A process that was forked while a
 * thread had it has no such thread: it takes FILE over. */
static bool take_file(void)
{
	const int self = leakwrap_process_id();
	int holder = atomic_load(&file.holder);

	return holder != self && atomic_compare_exchange_strong(&file.holder, &holder, self);
}

static void release_file(void)
{
	atomic_store(&file.holder, 0);
}

bool leakwrap_memory_limit_find(const char *folder)
{
	bool is_found;

	if (!take_file())
		return false;
	is_found = find_limit(folder);
	release_file();
	return is_found;
}

/* Returns the file pages of the cgroup that the kernel may drop. */
static uint64_t droppable_bytes(void)
{
	const char *found;
	uint64_t bytes = 0;

	if (read_file(cgroup.folder, "memory.stat", file.text, sizeof(file.text)) &&
	    (found = strstr(file.text, cgroup.names->droppable)) != NULL)
		read_number(found + strlen(cgroup.names->droppable), &bytes);
	return bytes;
}

static bool read_limit(uint64_t *used, uint64_t *limit)
{
	uint64_t droppable;

	if (!read_number_in(cgroup.folder, cgroup.names->limit, limit) || *limit >= NO_LIMIT ||
	    !read_number_in(cgroup.folder, cgroup.names->used, used))
		return false;
	/* The larger file is read only if the answer may depend on it. */
	if (*used > *limit / 2) {
		droppable = droppable_bytes();
		*used = *used > droppable ? *used - droppable : 0;
	}
	return true;
}

bool leakwrap_memory_limit_read(uint64_t *used, uint64_t *limit)
{
	bool is_read;

	if (!take_file())
		return false;
	is_read = read_limit(used, limit);
	release_file();
	return is_read;
}

uint64_t leakwrap_resident_bytes(void)
{
	char text[128];
	const char *second;
	uint64_t pages;

	/* "SIZE RESIDENT ...", in pages (proc(5)). */
	if (!read_and_close((int)leakwrap_proc_open("statm"), text, sizeof(text)) ||
	    (second = strchr(text, ' ')) == NULL || !read_number(second + 1, &pages))
		return 0;
	return pages * leakwrap_auxiliary(AT_PAGESZ);
}
