/* core.c - reads core files of Linux, those of the kernel and those of gcore.
 *
 * The notes of a thread begin with NT_PRSTATUS (linux/elfcore.h, struct elf_prstatus).  Its
 * registers are in the order of the kernel's struct for ptrace. */
#include <gelf.h>
#include <stdlib.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/base/numbers.h"
#include "tools/image/image.h"

/* Where the registers of a machine are in elf_prstatus. */
struct layout {
	const char *name;
	int machine;
	size_t word;
	size_t registers; /* how many */
	size_t sp;        /* the number of the stack pointer */
	size_t tp;        /* of the thread pointer; NO_TP: another note may have it */
};

enum { NO_TP = 255 };

static const struct layout layouts[] = {
        {"x86-64", EM_X86_64, 8, 27, 19, 21}, /* tp: fs_base (sys/user.h) */
        {"i386", EM_386, 4, 17, 15, NO_TP},           {"ARM", EM_ARM, 4, 18, 13, NO_TP},
        {"AArch64", EM_AARCH64, 8, 34, 31, NO_TP},    {"RISC-V of 64 bits", EM_RISCV, 8, 32, 2, 4},
        {"RISC-V of 32 bits", EM_RISCV, 4, 32, 2, 4},
};

/* Offsets in elf_prstatus, for words of 4 and 8 bytes. */
static size_t pid_offset(const struct layout *layout)
{
	return layout->word == 8 ? 32 : 24;
}

static size_t registers_offset(const struct layout *layout)
{
	return layout->word == 8 ? 112 : 72;
}

static const struct layout *find_layout(int machine, uint64_t word)
{
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (layouts[i].machine == machine && layouts[i].word == word)
			return &layouts[i];
	return NULL;
}

const char *image_machine_name(int machine, uint64_t word)
{
	const struct layout *layout = find_layout(machine, word);
	return layout ? layout->name : "a machine that leakwrap does not know";
}

/* -- notes ------------------------------------------------------------------------------------- */

/* The notes that have vector registers, and where the thread pointer is. */
enum {
	NOTE_386_TLS = 0x200, /* of struct user_desc, 16 bytes each (asm/ldt.h) */
	NOTE_X86_XSTATE = 0x202,
	NOTE_ARM_VFP = 0x400,
	NOTE_ARM_TLS = 0x401,
	NOTE_PRXFPREG = 0x46e62b7f,
};

static void add_registers(struct image_thread *thread, const unsigned char *bytes, size_t size)
{
	GROW(thread->registers, thread->register_room, thread->register_count + 1);
	thread->registers[thread->register_count++] = (struct image_registers){bytes, size};
}

static void add_thread(struct image *image, const struct layout *layout, const unsigned char *bytes,
                       size_t size)
{
	struct image_thread thread = {0};
	const size_t offset = registers_offset(layout);

	if (size < offset + layout->registers * layout->word)
		return;
	thread.id = (unsigned long)image_load(bytes + pid_offset(layout), 4);
	bytes += offset;
	thread.sp = image_load(bytes + layout->sp * layout->word, layout->word);
	if (layout->tp != NO_TP)
		thread.thread_pointer = image_load(bytes + layout->tp * layout->word, layout->word);
	add_registers(&thread, bytes, layout->registers * layout->word);
	GROW(image->threads, image->thread_room, image->thread_count + 1);
	image->threads[image->thread_count++] = thread;
}

/* Reads NT_AUXV: pairs of words (getauxval(3)). */
static void read_auxiliary(struct image *image, const unsigned char *bytes, size_t size)
{
	const size_t pair = 2 * (size_t)image->word;

	for (; size >= pair; bytes += pair, size -= pair) {
		const uint64_t value = image_load(bytes + image->word, image->word);

		switch (image_load(bytes, image->word)) {
		case AT_PHDR:
			image->headers = value;
			break;
		case AT_PHNUM:
			image->header_count = value;
			break;
		case AT_RANDOM:
			image->main_stack = value;
			break;
		}
	}
}

/* Reads a note of the thread that came last. */
static void read_thread_note(struct image *image, unsigned type, const unsigned char *bytes,
                             size_t size)
{
	struct image_thread *thread =
	        image->thread_count ? &image->threads[image->thread_count - 1] : NULL;

	if (!thread)
		return;
	switch (type) {
	case NT_FPREGSET:
	case NOTE_PRXFPREG:
	case NOTE_X86_XSTATE:
	case NOTE_ARM_VFP:
		add_registers(thread, bytes, size);
		break;
	case NOTE_ARM_TLS:
		if (size >= image->word)
			thread->thread_pointer = image_load(bytes, image->word);
		break;
	case NOTE_386_TLS:
		for (size_t at = 0; at + 16 <= size && thread->thread_pointer == 0; at += 16)
			thread->thread_pointer = image_load(bytes + at + 4, 4);
		break;
	}
}

static void read_notes(struct image *image, const struct layout *layout, Elf *elf,
                       const GElf_Phdr *segment, const unsigned char *file, size_t file_size)
{
	GElf_Nhdr note;
	size_t name, content;

	if (segment->p_offset > file_size || segment->p_filesz > file_size - segment->p_offset)
		return;
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset,
	                                      to_size(segment->p_filesz), ELF_T_NHDR);
	for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &content)) > 0;) {
		const unsigned char *bytes = file + segment->p_offset + content;

		/* The kernel's own notes; others have the owner LINUX. */
		if (note.n_type == NT_PRSTATUS)
			add_thread(image, layout, bytes, note.n_descsz);
		else if (note.n_type == NT_AUXV)
			read_auxiliary(image, bytes, note.n_descsz);
		else if (note.n_type == NT_PRPSINFO && note.n_descsz >= 28)
			/* pr_pid (struct elf_prpsinfo). */
			image->process =
			        (unsigned long)image_load(bytes + (image->word == 8       ? 24
			                                           : note.n_descsz == 124 ? 12
			                                                                  : 16),
			                                  4);
		else
			read_thread_note(image, note.n_type, bytes, note.n_descsz);
	}
}

/* -- memory ------------------------------------------------------------------------------------ */

/* Returns true if the file, of FILE_SIZE bytes, ends before SEGMENT. */
static bool is_cut(const GElf_Phdr *segment, size_t file_size)
{
	return segment->p_filesz > 0 &&
	       (segment->p_offset > file_size || segment->p_filesz > file_size - segment->p_offset);
}

/* Adds SEGMENT, which the FILE has as a whole. */
static void add_part(struct image *image, const GElf_Phdr *segment, const unsigned char *file)
{
	const uint64_t length =
	        segment->p_filesz < segment->p_memsz ? segment->p_filesz : segment->p_memsz;

	if (segment->p_memsz == 0 || segment->p_memsz > UINT64_MAX - segment->p_vaddr)
		return;
	GROW(image->parts, image->part_room, image->part_count + 1);
	image->parts[image->part_count++] = (struct image_part){
	        .start = segment->p_vaddr,
	        .end = segment->p_vaddr + segment->p_memsz,
	        .bytes = length > 0 ? file + segment->p_offset : NULL,
	        .length = length,
	        .is_readable = segment->p_flags & PF_R,
	        .is_writable = segment->p_flags & PF_W,
	        .is_code = segment->p_flags & PF_X,
	};
}

static int compare_parts(const void *left, const void *right)
{
	const struct image_part *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sorts the parts.  Drops a part that begins in another: such a file is damaged. */
static void sort_parts(struct image *image)
{
	size_t kept = 0;

	if (image->part_count > 0)
		qsort(image->parts, image->part_count, sizeof *image->parts, compare_parts);
	for (size_t i = 0; i < image->part_count; i++)
		if (kept == 0 || image->parts[i].start >= image->parts[kept - 1].end)
			image->parts[kept++] = image->parts[i];
	image->part_count = kept;
}

/* -- thread pointers that no note has ---------------------------------------------------------- */

/* Returns the thread with ID whose thread pointer is not known, or NULL. */
static struct image_thread *unplaced_thread(struct image *image, uint64_t id)
{
	for (size_t i = 0; i < image->thread_count; i++)
		if (image->threads[i].thread_pointer == 0 && image->threads[i].id == id)
			return &image->threads[i];
	return NULL;
}

/* Takes ADDRESS for the thread pointer of the thread that glibc describes there, if it describes
 * one: the description has its own address twice (tcb, self), and later the thread's id
 * (sysdeps/i386/nptl/tls.h, tcbhead_t; nptl/descr.h, struct pthread). */
static void place_thread(struct image *image, uint64_t address)
{
	const unsigned char *bytes;
	uint64_t length;

	if (image_word(image, address + 2 * image->word) != address)
		return;
	length = image_bytes(image, address, &bytes);
	for (uint64_t at = 0; at < IMAGE_DESCRIPTION && at + 4 <= length; at += 4) {
		struct image_thread *thread = unplaced_thread(image, image_load(bytes + at, 4));

		if (thread) {
			thread->thread_pointer = address;
			return;
		}
	}
}

/* Finds thread pointers of i386 by what they point to: gdb writes no NT_386_TLS. */
static void find_thread_pointers(struct image *image)
{
	bool is_missing = false;

	for (size_t i = 0; i < image->thread_count; i++)
		is_missing |= image->threads[i].thread_pointer == 0;
	if (!is_missing || image->machine != EM_386)
		return;
	for (size_t i = 0; i < image->part_count; i++) {
		const struct image_part *part = &image->parts[i];

		if (!part->is_writable)
			continue;
		for (uint64_t at = 0; at + image->word <= part->length; at += image->word)
			if (image_load(part->bytes + at, image->word) == part->start + at)
				place_thread(image, part->start + at);
	}
}

/* -- files ------------------------------------------------------------------------------------- */

/* Reads the headers of ELF, which is the SIZE bytes at BYTES.  Returns what is wrong, or NULL. */
static const char *read_elf(struct image *image, Elf *elf, const unsigned char *bytes, size_t size)
{
	GElf_Ehdr header;
	size_t segments;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    header.e_type != ET_CORE)
		return "it is no core file";
	image->machine = header.e_machine;
	image->word = header.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	const struct layout *layout = find_layout(image->machine, image->word);
	if (!layout || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return "it is of a machine that leakwrap does not know";
	if (elf_getphdrnum(elf, &segments) != 0)
		return "its headers are damaged";
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment))
			return "its headers are damaged";
		if (segment.p_type == PT_LOAD && is_cut(&segment, size))
			return "it is not whole (a limit of ulimit -c, or a full disk)";
		if (segment.p_type == PT_LOAD)
			add_part(image, &segment, bytes);
		else if (segment.p_type == PT_NOTE)
			read_notes(image, layout, elf, &segment, bytes, size);
	}
	sort_parts(image);
	find_thread_pointers(image);
	return image->part_count == 0 || image->thread_count == 0 ? "it has no memory or no threads"
	                                                          : NULL;
}

bool image_parse_core(struct image *image, const char *name, const void *bytes, size_t size)
{
	*image = (struct image){.name = name, .is_core = true};
	elf_version(EV_CURRENT);
	/* libelf takes a pointer to char, and writes nothing. */
	Elf *elf = elf_memory((char *)(uintptr_t)bytes, size);
	const char *wrong = read_elf(image, elf, bytes, size);
	elf_end(elf);
	if (!wrong)
		return true;
	complain("%s cannot be used: %s", name, wrong);
	image_free(image);
	return false;
}

bool image_read_core(struct image *image, const char *path)
{
	struct image file = {0};
	const unsigned char *bytes;
	size_t size;

	if (!image_map_file(&file, path, &bytes, &size))
		return false;
	if (!image_parse_core(image, path, bytes, size)) {
		image_free(&file);
		return false;
	}
	image->maps = file.maps;
	image->map_count = file.map_count;
	return true;
}
