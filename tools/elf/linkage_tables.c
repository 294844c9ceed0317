/* linkage_tables.c - see linkage_tables.h.
 *
 * The entries of linkage tables are those of ld.bfd, gold, ld.lld and mold.  The forms of their
 * instructions are in the manuals that calls.c names.
 */
#include "tools/elf/linkage_tables.h"

#include <stdlib.h>

#include "tools/elf/code.h"
#include "tools/elf/headers.h"
#include "tools/elf/little_endian.h"
#include "tools/elf/riscv_pair.h"
#include "tools/elf/veneers.h"

struct plt_search {
	int machine;
	uint64_t got; /* what i386 entries of position-independent code are relative to */
	struct targets *targets;
	struct targets found;
};

/* Adds those of MORE to TARGETS, and frees MORE. */
static void add_targets(struct targets *targets, struct targets *more)
{
	for (size_t i = 0; i < more->count; i++)
		targets_add(targets, more->all[i].address, more->all[i].symbol, false);
	free(more->all);
}

static void plt_slot(struct plt_search *search, uint64_t entry, uint64_t slot)
{
	for (size_t i = 0; i < search->targets->count; i++) {
		const struct target *target = &search->targets->all[i];
		if (target->slot && target->address == slot)
			targets_add(&search->found, entry, target->symbol, false);
	}
}

/* Returns an immediate of ARM: eight bits, rotated right by twice the four bits above them. */
static uint32_t arm_immediate(uint32_t instruction)
{
	uint32_t value = instruction & 0xff, rotation = 2 * (instruction >> 8 & 15);
	return rotation ? value >> rotation | value << (32 - rotation) : value;
}

/* Finds jumps through a slot.  A call goes to the jump itself, or to the beginning of its entry.
 * Not every linker says how large an entry is: mold's .plt.got has two in 16 bytes. */
static void plt_x86(struct plt_search *search, const struct code *code)
{
	uint64_t last = UINT64_MAX; /* the entry with the jump before */

	for (size_t i = 0; i + 6 <= code->size; i++) {
		const unsigned char *p = code->bytes + i;
		uint64_t pc = code->address + i, slot;
		uint64_t entry = code->address + i / code->entry * code->entry;
		if (p[0] != 0xff || (p[1] != 0x25 && p[1] != 0xa3))
			continue;
		if (search->machine == EM_X86_64)
			slot = pc + 6 + (uint64_t)sign_extend(word_at(p + 2), 32);
		else
			slot = (word_at(p + 2) + (p[1] == 0xa3 ? search->got : 0)) & UINT32_MAX;
		plt_slot(search, pc, slot);
		if (entry != pc && entry != last)
			plt_slot(search, entry, slot);
		last = entry;
	}
}

/* Adds the veneers in CODE that lead to targets. */
static void visit_veneers(void *context, const struct code *code)
{
	struct plt_search *search = context;
	uint64_t to;

	for (size_t i = 0; i < code->size; i += search->machine == EM_ARM ? 2 : 4) {
		const struct target *target = find_veneer(search->machine, code, i, &to) != 0
		                                      ? targets_find(search->targets, to)
		                                      : NULL;
		if (target && !target->slot)
			targets_add(&search->found, code->address + i, target->symbol, false);
	}
}

/* Finds "adrp x16, page; ldr x17, [x16, #offset]". */
static void plt_aarch64(struct plt_search *search, const struct code *code)
{
	for (size_t i = 0; i + 8 <= code->size; i += 4) {
		uint32_t adrp = word_at(code->bytes + i), ldr = word_at(code->bytes + i + 4);
		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		uint64_t pc = code->address + i;
		uint64_t slot = adrp_page(pc, adrp) + (uint64_t)(ldr >> 10 & 0xfff) * 8;
		plt_slot(search, pc, slot);
		plt_slot(search, pc - 4, slot); /* behind a landing pad, bti c */
	}
}

/* Finds "ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]" with an offset behind it, of mold and lld,
 * at P, which is PC. */
static void plt_arm_long(struct plt_search *search, const unsigned char *p, uint64_t pc)
{
	const uint32_t add = word_at(p + 4);

	if (word_at(p) == 0xe59fc004 && (add == 0xe08cc00f || add == 0xe08fc00c) &&
	    word_at(p + 8) == 0xe59cf000)
		plt_slot(search, pc, (pc + 12 + word_at(p + 12)) & UINT32_MAX);
}

/* Finds "add ip, pc, #a; add ip, ip, #b; ldr pc, [ip, #c]!" and longer forms, with "bx pc" in front
 * for Thumb. */
static void plt_arm(struct plt_search *search, const struct code *code)
{
	for (size_t i = 0; i + 8 <= code->size; i += 4) {
		uint32_t first = word_at(code->bytes + i);
		if (i + 16 <= code->size)
			plt_arm_long(search, code->bytes + i, code->address + i);
		if ((first & 0xfffff000) != 0xe28fc000)
			continue;
		uint64_t pc = code->address + i, at = pc + 8 + arm_immediate(first);
		for (size_t j = i + 4; j + 4 <= code->size && j <= i + 12; j += 4) {
			uint32_t next = word_at(code->bytes + j);
			if ((next & 0xfffff000) == 0xe28cc000) {
				at += arm_immediate(next);
				continue;
			}
			if ((next & 0xfffff000) == 0xe5bcf000) {
				uint64_t slot = (at + (next & 0xfff)) & UINT32_MAX;
				plt_slot(search, pc, slot);
				plt_slot(search, pc - 4, slot);
			}
			break;
		}
	}
}

/* Finds "auipc t3, a; ld t3, b(t3); jalr t1, t3; nop". */
static void plt_riscv(struct plt_search *search, const struct code *code)
{
	for (size_t i = 0; i + 8 <= code->size; i += 4) {
		uint32_t auipc = word_at(code->bytes + i), load = word_at(code->bytes + i + 4);
		uint64_t pc = code->address + i;
		if (is_riscv_pair(auipc, load, 0x03))
			plt_slot(search, pc, riscv_sum(pc, auipc, bits(load, 31, 20)));
	}
}

static void visit_plt(void *context, const struct code *code)
{
	struct plt_search *search = context;
	switch (search->machine) {
	case EM_X86_64:
	case EM_386:
		plt_x86(search, code);
		break;
	case EM_AARCH64:
		plt_aarch64(search, code);
		break;
	case EM_ARM:
		plt_arm(search, code);
		break;
	case EM_RISCV:
		plt_riscv(search, code);
		break;
	default:
		break;
	}
}

/* Adds the slots that the linker filled, which belong to functions of the program. */
static void add_filled_slots(Elf *elf, struct targets *targets)
{
	GElf_Shdr header;
	Elf_Scn *scn = section_named(elf, ".got", &header);
	bool wide = gelf_getclass(elf) == ELFCLASS64;
	size_t size = wide ? 8 : 4, count = targets->count;
	Elf_Data *raw = scn ? elf_rawdata(scn, NULL) : NULL;
	Elf_Data *words = raw ? elf_getdata_rawchunk(elf, (int64_t)header.sh_offset, raw->d_size,
	                                             wide ? ELF_T_XWORD : ELF_T_WORD)
	                      : NULL;

	for (size_t i = 0; words && (i + 1) * size <= words->d_size; i++) {
		uint64_t value = wide ? ((const Elf64_Xword *)words->d_buf)[i]
		                      : ((const Elf32_Word *)words->d_buf)[i];
		for (size_t j = 0; value && j < count; j++)
			if (!targets->all[j].slot && targets->all[j].address == value)
				targets_add(targets, header.sh_addr + i * size,
				            targets->all[j].symbol, true);
	}
}

/* The two sections to which %ebx may point in code of i386, and how often code makes it so. */
struct base_search {
	uint64_t got_plt, got;
	size_t got_count, got_plt_count;
};

/* Counts where "call thunk; add $offset, %ebx" or "call next; pop %ebx; add ..." point %ebx. */
static void visit_bases(void *context, const struct code *code)
{
	struct base_search *search = context;

	for (size_t i = 0; i + 12 <= code->size; i++) {
		const unsigned char *p = code->bytes + i, *add = p + 5 + (p[5] == 0x5b);
		if (p[0] != 0xe8 || add[0] != 0x81 || add[1] != 0xc3)
			continue;
		const uint64_t base = (code->address + i + 5 + word_at(add + 2)) & UINT32_MAX;
		search->got_count += base == search->got;
		search->got_plt_count += base == search->got_plt;
	}
}

uint64_t got_address(Elf *elf)
{
	GElf_Shdr header;
	struct base_search search = {0};

	if (section_named(elf, ".got.plt", &header))
		search.got_plt = header.sh_addr;
	if (section_named(elf, ".got", &header))
		search.got = header.sh_addr;
	each_code(elf, false, visit_bases, &search);
	return search.got_plt && search.got_plt_count >= search.got_count ? search.got_plt
	                                                                  : search.got;
}

void linkage_tables_add(Elf *elf, int machine, struct targets *targets)
{
	struct plt_search search = {.machine = machine, .targets = targets};

	add_filled_slots(elf, targets);
	if (machine == EM_386)
		search.got = got_address(elf);
	each_code(elf, true, visit_plt, &search);
	add_targets(targets, &search.found);
	if (machine == EM_AARCH64 || machine == EM_ARM) {
		search.found = (struct targets){0};
		targets_sort(targets);
		each_code(elf, false, visit_veneers, &search);
		add_targets(targets, &search.found);
	}
}
