/* damaged_symbols.c - damage FILE INDEX: lets each call of the shared object FILE refer to the
 * symbol INDEX. */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static union {
	ElfW(Ehdr) header;
	char bytes[1 << 23];
} file;

/* Stores INDEX in the COUNT relocations of SIZE bytes at OFFSET. */
static void damage(size_t offset, size_t size, size_t count, uintptr_t index)
{
	for (size_t i = 0; i < count; i++) {
		ElfW(Rel) *const relocation = (void *)(file.bytes + offset + i * size);

		if (sizeof(ElfW(Addr)) == 8)
			relocation->r_info = index << 16 << 16 | (relocation->r_info & 0xffffffffu);
		else
			relocation->r_info = index << 8 | (relocation->r_info & 0xff);
	}
}

int main(int argc, char **argv)
{
	FILE *const stream = argc == 3 ? fopen(argv[1], "r+b") : NULL;
	const ElfW(Shdr) * section;
	size_t size;

	if (!stream)
		return 1;
	size = fread(file.bytes, 1, sizeof(file), stream);
	if (size < sizeof(file.header) || size == sizeof(file))
		return 2;
	section = (void *)(file.bytes + file.header.e_shoff);
	for (unsigned i = 0; i < file.header.e_shnum; i++)
		if ((section[i].sh_type == SHT_REL || section[i].sh_type == SHT_RELA) &&
		    (section[i].sh_flags & SHF_INFO_LINK))
			damage(section[i].sh_offset, section[i].sh_entsize,
			       section[i].sh_size / section[i].sh_entsize,
			       (uintptr_t)strtoul(argv[2], NULL, 0));
	rewind(stream);
	return fwrite(file.bytes, 1, size, stream) == size && fclose(stream) == 0 ? 0 : 3;
}
