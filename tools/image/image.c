/* image.c - see image.h. */
#include "tools/image/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tools/base/binary_search.h"
#include "tools/base/memory.h"

/* Returns the index of the first of COUNT PARTS that ends behind ADDRESS. */
static size_t first_behind(const struct image_part *parts, size_t count, uint64_t address)
{
	size_t at;
	BINARY_SEARCH(at, count, parts[at].end <= address);
	return at;
}

static const struct image_part *find_part(const struct image_part *parts, size_t count,
                                          uint64_t address)
{
	size_t at = first_behind(parts, count, address);
	return at < count && parts[at].start <= address ? &parts[at] : NULL;
}

const struct image_part *image_part_at(const struct image *image, uint64_t address)
{
	return find_part(image->parts, image->part_count, address);
}

bool image_is_code(const struct image *image, uint64_t address)
{
	const struct image_part *part = image_part_at(image, address);

	if (!part)
		part = find_part(image->backing, image->backing_count, address);
	return part && part->is_code;
}

/* Returns how many bytes PART has from ADDRESS on, and sets *BYTES to them. */
static uint64_t bytes_of(const struct image_part *part, uint64_t address,
                         const unsigned char **bytes)
{
	if (!part || address - part->start >= part->length)
		return 0;
	*bytes = part->bytes + (address - part->start);
	return part->length - (address - part->start);
}

uint64_t image_bytes(const struct image *image, uint64_t address, const unsigned char **bytes)
{
	uint64_t size = bytes_of(image_part_at(image, address), address, bytes);
	return size ? size
	            : bytes_of(find_part(image->backing, image->backing_count, address), address,
	                       bytes);
}

/* Returns the first address from ADDRESS on of which PARTS have bytes, or UINT64_MAX. */
static uint64_t next_of(const struct image_part *parts, size_t count, uint64_t address)
{
	for (size_t at = first_behind(parts, count, address); at < count; at++) {
		uint64_t from = parts[at].start > address ? parts[at].start : address;
		if (from - parts[at].start < parts[at].length)
			return from;
	}
	return UINT64_MAX;
}

uint64_t image_next(const struct image *image, uint64_t address)
{
	uint64_t own = next_of(image->parts, image->part_count, address);
	uint64_t backed = next_of(image->backing, image->backing_count, address);
	return own < backed ? own : backed;
}

uint64_t image_word(const struct image *image, uint64_t address)
{
	const unsigned char *bytes = NULL;
	return image_bytes(image, address, &bytes) >= image->word ? image_load(bytes, image->word)
	                                                          : 0;
}

uint64_t image_untagged(const struct image *image, uint64_t address)
{
	return image->machine == EM_AARCH64 ? address & (UINT64_MAX >> 8) : address;
}

uint64_t image_lower_address(const struct image *image, uint64_t word)
{
	switch (image->machine) {
	case EM_AARCH64:
		return word & (UINT64_MAX >> 16);
	case EM_X86_64:
		return word & (UINT64_MAX >> 17);
	case EM_RISCV:
		return image->word == 8 ? word & (UINT64_MAX >> 17) : word;
	default:
		return word;
	}
}

void image_back(struct image *image, uint64_t start, const unsigned char *bytes, uint64_t size,
                bool is_code)
{
	size_t at = first_behind(image->backing, image->backing_count, start);

	if (size == 0 || size > UINT64_MAX - start ||
	    (at < image->backing_count && image->backing[at].start < start + size))
		return;
	GROW(image->backing, image->backing_room, image->backing_count + 1);
	memmove(&image->backing[at + 1], &image->backing[at],
	        (image->backing_count++ - at) * sizeof *image->backing);
	image->backing[at] = (struct image_part){.start = start,
	                                         .end = start + size,
	                                         .bytes = bytes,
	                                         .length = size,
	                                         .is_code = is_code};
}

void image_free(struct image *image)
{
	for (size_t i = 0; i < image->thread_count; i++)
		free(image->threads[i].registers);
	free(image->threads);
	free(image->parts);
	free(image->backing);
	for (size_t i = 0; i < image->map_count; i++)
		munmap(image->maps[i].bytes, image->maps[i].size);
	free(image->maps);
	*image = (struct image){0};
}

bool image_describes_below(const struct image *image)
{
	return image->machine != EM_X86_64 && image->machine != EM_386;
}
