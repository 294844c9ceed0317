/* maps.c - see maps.h. */
#include "wrap/reach/maps.h"

#include "wrap/port/port.h"

#include <fcntl.h>
#include <string.h>

/* The kernel allows 65,530 mappings unless vm.max_map_count says otherwise. */
#define ROOM   ((size_t)1 << 16)
#define BUFFER ((size_t)64 << 10)

/* The array of mappings, and behind it the buffer.  Both stay mapped as long as the mappings are in
 * use: they are among them, and later memory of the scan must not take their place. */
#define MEMORY (ROOM * sizeof(struct leakwrap_mapping) + BUFFER)

static struct {
	struct leakwrap_mapping *mapping;
	size_t count;
	size_t last; /* index of the last mapping found */
} maps;

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Reads a hexadecimal number at *TEXT and moves *TEXT behind it. */
static uintptr_t read_hex(const char **text)
{
	uintptr_t value = 0;

	for (;; (*text)++) {
		const char c = **text;

		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
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

/* Adds the mapping of LINE: START-END PERMISSIONS OFFSET DEVICE INODE NAME. */
static bool add_line(const char *line)
{
	struct leakwrap_mapping *const mapping = &maps.mapping[maps.count];
	const char *name;

	if (maps.count == ROOM)
		return false;
	memset(mapping, 0, sizeof(*mapping));
	mapping->start = read_hex(&line);
	if (*line++ != '-')
		return false;
	mapping->end = read_hex(&line);
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
	maps.count++;
	return true;
}

/* Adds the whole lines of the LENGTH bytes at TEXT, which has room for one more.  Returns the
 * number of bytes that they take; 0 if a line cannot be read. */
static size_t add_lines(char *text, size_t length)
{
	size_t done = 0;
	char *end;

	while ((end = memchr(text + done, '\n', length - done)) != NULL) {
		*end = '\0';
		if (!add_line(text + done))
			return 0;
		done = (size_t)(end - text) + 1;
	}
	return done;
}

static bool read_all(int fd, char *buffer)
{
	size_t kept = 0;
	long got;

	while ((got = leakwrap_read(fd, buffer + kept, BUFFER - kept)) > 0) {
		const size_t length = kept + (size_t)got;
		const size_t done = add_lines(buffer, length);

		if (done == 0 && length == BUFFER)
			return false;
		kept = length - done;
		memmove(buffer, buffer + done, kept);
	}
	return got == 0 && kept == 0 && maps.count > 0;
}

const char leakwrap_reach_no_memory[] = "there is no memory for the scan";

const char *leakwrap_maps_read(void)
{
	bool is_whole = false;
	int fd;

	maps.count = maps.last = 0;
	maps.mapping = leakwrap_scratch_map(MEMORY);
	if (!maps.mapping)
		return leakwrap_reach_no_memory;
	fd = (int)leakwrap_proc_open("maps");
	if (fd >= 0) {
		is_whole = read_all(fd, (char *)(maps.mapping + ROOM));
		leakwrap_close(fd);
	}
	if (is_whole)
		return NULL;
	leakwrap_maps_release();
	return "/proc/self/maps cannot be read";
}

void leakwrap_maps_release(void)
{
	if (maps.mapping)
		leakwrap_scratch_unmap(maps.mapping, MEMORY);
	maps.mapping = NULL;
	maps.count = 0;
}

void leakwrap_maps_own_memory(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)maps.mapping;
	*end = *start + MEMORY;
}

const struct leakwrap_mapping *leakwrap_maps(size_t *count)
{
	*count = maps.count;
	return maps.mapping;
}

static bool is_in(const struct leakwrap_mapping *mapping, uintptr_t address)
{
	return address >= mapping->start && address < mapping->end;
}

/* Returns the mapping that holds ADDRESS, or NULL. */
static struct leakwrap_mapping *find(uintptr_t address)
{
	size_t low = 0, high = maps.count;

	if (maps.last < maps.count && is_in(&maps.mapping[maps.last], address))
		return &maps.mapping[maps.last];
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (maps.mapping[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == maps.count || !is_in(&maps.mapping[low], address))
		return NULL;
	maps.last = low;
	return &maps.mapping[low];
}

const struct leakwrap_mapping *leakwrap_mapping_at(uintptr_t address)
{
	return find(address);
}

void leakwrap_maps_note_thread(uintptr_t address)
{
	struct leakwrap_mapping *const mapping = find(address);

	if (mapping)
		mapping->has_thread = true;
}

uintptr_t leakwrap_maps_readable_end(uintptr_t address, uintptr_t limit)
{
	uintptr_t at = address;

	while (at < limit) {
		const struct leakwrap_mapping *const mapping = leakwrap_mapping_at(at);

		if (!mapping || !mapping->is_readable || mapping->is_special)
			break;
		at = mapping->end;
	}
	return at < limit ? at : limit;
}
