/* ram.c - reads images of a board's memory: bare bytes, as a debugger or an emulator writes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/image/image.h"

bool image_map_file(struct image *image, const char *path, const unsigned char **bytes,
                    size_t *size)
{
	int fd = open_regular(path);
	struct stat file;
	void *map = MAP_FAILED;

	*size = 0;
	if (fd >= 0 && fstat(fd, &file) == 0) {
		remember_input(fd);
		*size = to_size((uint64_t)file.st_size);
		map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (map == MAP_FAILED)
		complain("%s: %s", path, fd >= 0 && *size == 0 ? "it is empty" : strerror(errno));
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return false;
	GROW(image->maps, image->map_room, image->map_count + 1);
	image->maps[image->map_count++] = (struct image_map){map, *size};
	*bytes = map;
	return true;
}

bool image_add_ram(struct image *image, const char *where)
{
	const char *colon = strchr(where, ':');
	struct image_part part = {.is_readable = true, .is_writable = true};
	size_t size, at = 0;

	if (!colon || colon == where || !colon[1]) {
		complain("--image=%s: must be ADDRESS:FILE, such as 0x20000000:ram.bin", where);
		return false;
	}
	char *address = xstrdup(where);
	address[colon - where] = '\0';
	bool fine = parse_number(address, &part.start);
	free(address);
	if (!fine) {
		complain("--image=%s: its address must be a number", where);
		return false;
	}
	if (!image_map_file(image, colon + 1, &part.bytes, &size))
		return false;
	part.length = size;
	if (part.length > UINT64_MAX - part.start) {
		complain("--image=%s: the file is too large for its address", where);
		return false;
	}
	part.end = part.start + part.length;
	while (at < image->part_count && image->parts[at].start < part.start)
		at++;
	if ((at > 0 && image->parts[at - 1].end > part.start) ||
	    (at < image->part_count && image->parts[at].start < part.end)) {
		complain("--image=%s: another image has the same memory", where);
		return false;
	}
	GROW(image->parts, image->part_room, image->part_count + 1);
	memmove(&image->parts[at + 1], &image->parts[at],
	        (image->part_count++ - at) * sizeof *image->parts);
	image->parts[at] = part;
	image->name = colon + 1;
	return true;
}
