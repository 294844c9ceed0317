/* image.h - puts an ELF file of this machine into memory as the loader would, but without
 * relocation. */
#ifndef IMAGE_H
#define IMAGE_H

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
	const uint8_t *start,
	        *end; /* where address 0 of the file is, and behind its last segment */
	const ElfW(Phdr) * segment;
	unsigned segment_count;
};

/* Loads PATH. Ends the program if it cannot be read. */
static struct image load_image(const char *path)
{
	struct stat status;
	int file = open(path, O_RDONLY);
	size_t size = 0;

	if (file < 0 || fstat(file, &status) != 0)
		exit(2);

	const char *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	const ElfW(Ehdr) *header = (const void *)bytes;
	const ElfW(Phdr) *segment = (const void *)(bytes + header->e_phoff);

	close(file);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && segment[i].p_vaddr + segment[i].p_memsz > size)
			size = segment[i].p_vaddr + segment[i].p_memsz;

	uint8_t *start =
	        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (start == MAP_FAILED)
		exit(2);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD)
			memcpy(start + segment[i].p_vaddr, bytes + segment[i].p_offset,
			       segment[i].p_filesz);
	return (struct image){start, start + size, segment, header->e_phnum};
}

#endif
