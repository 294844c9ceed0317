/* linux_maps.c - the Linux port: the mappings of the process. */
#include "wrap/port/linux.h"

#include <string.h>

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Returns whether the mapping NAME is a device's or the kernel's.  Shared memory of POSIX, and
 * /dev/zero, are memory like any other.  The rings of io_uring hold the program's pointers. */
static bool is_special_name(const char *name)
{
	return (starts_with(name, "/dev/") && !starts_with(name, "/dev/shm/") &&
	        !starts_with(name, "/dev/zero")) ||
	       starts_with(name, "/dmabuf:") || starts_with(name, "[v") ||
	       (starts_with(name, "anon_inode:") && !starts_with(name, "anon_inode:[io_uring]"));
}

/* Returns whether the mapping NAME is shared memory: of POSIX, of System V, of memfd_create(2), or
 * without a name of its own. */
static bool is_memory_name(const char *name)
{
	return starts_with(name, "/dev/shm/") || starts_with(name, "/dev/zero") ||
	       starts_with(name, "/SYSV") || starts_with(name, "/memfd:") || *name == '[';
}

/* Sets *MAPPING to the mapping of LINE: START-END PERMISSIONS OFFSET DEVICE INODE NAME.  Returns
 * false if LINE is none. */
static bool read_line(const char *line, struct leakwrap_mapping *mapping)
{
	const char *name;

	memset(mapping, 0, sizeof(*mapping));
	mapping->start = leakwrap_read_hex(&line);
	if (*line++ != '-')
		return false;
	mapping->end = leakwrap_read_hex(&line);
	if (strlen(line) < 6)
		return false;
	mapping->is_readable = line[1] == 'r';
	mapping->is_writable = line[2] == 'w';
	mapping->is_executable = line[3] == 'x';
	mapping->is_shared = line[4] == 's';
	name = line + 6;
	for (unsigned field = 0; field < 3 && name; field++) {
		name = strchr(name, ' ');
		name += name != NULL;
	}
	while (name && *name == ' ')
		name++;
	if (name && *name != '\0') {
		mapping->is_file = *name == '/';
		mapping->is_break = starts_with(name, "[heap]");
		mapping->is_stack = starts_with(name, "[stack]");
		mapping->is_memory = is_memory_name(name);
		mapping->is_special = is_special_name(name);
	}
	return true;
}

/* Visits the mappings of the whole lines of the LENGTH bytes at TEXT.  Sets *DONE to the number of
 * bytes that they take.  Returns false if a line cannot be read, or if VISIT has ended the
 * visits. */
static bool visit_lines(char *text, size_t length, leakwrap_mapping_visitor *visit, void *context,
                        size_t *done)
{
	struct leakwrap_mapping mapping;
	char *end;

	*done = 0;
	while ((end = memchr(text + *done, '\n', length - *done)) != NULL) {
		*end = '\0';
		if (!read_line(text + *done, &mapping) || !visit(context, &mapping))
			return false;
		*done = (size_t)(end - text) + 1;
	}
	return true;
}

bool leakwrap_mappings_each(char *buffer, size_t size, leakwrap_mapping_visitor *visit,
                            void *context)
{
	const int fd = (int)leakwrap_proc_open("maps");
	size_t kept = 0, done;
	bool is_whole = fd >= 0;
	long got = 0;

	while (is_whole && (got = leakwrap_read(fd, buffer + kept, size - kept)) > 0) {
		kept += (size_t)got;
		is_whole = visit_lines(buffer, kept, visit, context, &done);
		kept -= done;
		memmove(buffer, buffer + done, kept);
		is_whole &= kept < size;
	}
	if (fd >= 0)
		leakwrap_close(fd);
	return is_whole && got == 0 && kept == 0;
}
