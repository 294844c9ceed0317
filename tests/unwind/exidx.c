/* exidx.c - prints what the ARM exception tables of an ELF file say, one line for each entry.
 *
 * exidx FILE <ADDRESSES: puts FILE's segments into memory, and reads hexadecimal addresses of the
 * file. For each it prints the address, the base, and where sp, r7, r11 and pc are saved ("-": they
 * are in the register), or "none".
 * exidx FILE damaged COUNT: damages the tables, COUNT times, and looks every entry up. It must not
 * crash.
 * It runs on any machine, because the tables hold only relative addresses. */
#include "tests/random.h"
#include "wrap/unwind/arm_exidx.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct leakwrap_exidx tables;
static uint8_t *image;
static size_t size;

static void load(const char *path)
{
	struct stat status;
	int file = open(path, O_RDONLY);

	if (file < 0 || fstat(file, &status) != 0)
		exit(2);

	const char *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	const Elf32_Ehdr *header = (const void *)bytes;
	const Elf32_Phdr *segment = (const void *)(bytes + header->e_phoff);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	close(file);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && segment[i].p_vaddr + segment[i].p_memsz > size)
			size = segment[i].p_vaddr + segment[i].p_memsz;
	size = (size + page - 1) / page * page;
	image = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image == MAP_FAILED || mprotect(image + size, page, PROT_NONE) != 0)
		exit(2);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD)
			memcpy(image + segment[i].p_vaddr, bytes + segment[i].p_offset,
			       segment[i].p_filesz);
		else if (segment[i].p_type == PT_ARM_EXIDX)
			tables = (struct leakwrap_exidx){image + segment[i].p_vaddr,
			                                 segment[i].p_memsz, image, image + size};
	if (!tables.index) {
		fprintf(stderr, "%s has no .ARM.exidx\n", path);
		exit(2);
	}
}

static void print_place(int32_t place)
{
	if (place == LEAKWRAP_EXIDX_SAME)
		printf(" -");
	else
		printf(" %d", place);
}

static void print_frame(unsigned long address)
{
	static const char *const bases[] = {"vsp", "r7", "r11"};
	struct leakwrap_exidx_frame frame;

	printf("%lx", address);
	if (!leakwrap_exidx_find(&tables, (uintptr_t)image + address, &frame)) {
		puts(" none");
		return;
	}
	printf(" %s %s%d", bases[frame.base], frame.sp_loaded ? "@" : "", frame.sp);
	print_place(frame.r7);
	print_place(frame.r11);
	print_place(frame.pc);
	putchar('\n');
}

static uint32_t random_number(void)
{
	static uint64_t state;

	return (uint32_t)draw_random(&state);
}

static void damage(unsigned long count)
{
	uint8_t *index = image + (tables.index - image);
	uint8_t *copy = malloc(tables.index_size);
	unsigned long found = 0;

	memcpy(copy, index, tables.index_size);
	while (count--) {
		struct leakwrap_exidx_frame frame;
		size_t at = random_number() % tables.index_size & ~(size_t)7;
		uint32_t word;

		/* An entry gets a random word: instructions, or a pointer to anywhere. */
		word = random_number();
		if (random_number() % 2)
			word = 0x80000000 | (word & 0x00ffffff);
		else if (random_number() % 2) /* just before the page that cannot be read */
			word = (uint32_t)(image + size - (index + at + 4)) - random_number() % 64;
		memcpy(index + at + 4, &word, sizeof(word));
		if (random_number() % 4 == 0)
			index[at + random_number() % 4] = (uint8_t)random_number();
		memcpy(&word, copy + at, sizeof(word));
		found += leakwrap_exidx_find(
		        &tables,
		        (uintptr_t)(index + at) + (uintptr_t)(intptr_t)((int32_t)(word << 1) >> 1) +
		                2,
		        &frame);
		memcpy(index + at, copy + at, 8);
	}
	free(copy);
	printf("%lu frames from damaged tables\n", found);
}

int main(int argc, char **argv)
{
	unsigned long address;

	if (argc < 2)
		return 2;
	load(argv[1]);
	if (argc == 4 && strcmp(argv[2], "damaged") == 0) {
		damage(strtoul(argv[3], NULL, 10));
		return 0;
	}
	while (scanf("%lx", &address) == 1)
		print_frame(address);
	return 0;
}
