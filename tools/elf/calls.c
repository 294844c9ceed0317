/* calls.c - see calls.h.
 *
 * Forms of instructions: Intel SDM volume 2 (CALL, JMP, ModR/M with RIP); Arm ARM (B, BL, ADRP,
 * LDR; T32 BL and BLX); RISC-V unprivileged ISA (AUIPC, JAL, JALR, C.J).  The entries of linkage
 * tables are those of ld.bfd, gold, ld.lld and mold.
 */
#include "tools/elf/calls.h"

#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/elf/little_endian.h"
#include "tools/elf/veneers.h"

struct code {
	uint64_t address;
	const unsigned char *bytes;
	size_t size;
	unsigned entry; /* size of an entry, of a linkage table */
};

/* -- targets ----------------------------------------------------------------------------------- */

void targets_add(struct targets *targets, uint64_t address, size_t symbol, bool slot)
{
	GROW(targets->all, targets->room, targets->count + 1);
	targets->all[targets->count++] = (struct target){address, symbol, slot};
}

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

static void sort_targets(struct targets *targets)
{
	qsort(targets->all, targets->count, sizeof *targets->all, compare_targets);
}

/* Adds those of MORE to TARGETS, and frees MORE. */
static void add_targets(struct targets *targets, struct targets *more)
{
	for (size_t i = 0; i < more->count; i++)
		targets_add(targets, more->all[i].address, more->all[i].symbol, false);
	free(more->all);
}

static const struct target *find_target(const struct targets *targets, uint64_t address)
{
	size_t low = 0, high = targets->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (targets->all[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < targets->count && targets->all[low].address == address ? &targets->all[low]
	                                                                    : NULL;
}

/* -- sections ---------------------------------------------------------------------------------- */

/* Calls VISIT for each section of code.  PLT: only for linkage tables, otherwise only for
 * others. */
static void each_code(Elf *elf, bool plt, void (*visit)(void *, const struct code *), void *context)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
		GElf_Shdr header;
		if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_type != SHT_PROGBITS)
			continue;
		const char *name = elf_strptr(elf, names, header.sh_name);
		if ((name && (strncmp(name, ".plt", 4) == 0 || strncmp(name, ".iplt", 5) == 0)) !=
		    plt)
			continue;
		Elf_Data *data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		struct code code = {header.sh_addr, data->d_buf, data->d_size,
		                    header.sh_entsize == 8 ? 8 : 16};
		visit(context, &code);
	}
}

/* -- linkage tables ---------------------------------------------------------------------------- */

struct plt_search {
	int machine;
	uint64_t got; /* what i386 entries of position-independent code are relative to */
	struct targets *targets;
	struct targets found;
};

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

/* Returns the size of the veneer in the code AT, or 0, and sets *TO to where it leads. */
static size_t find_veneer(int machine, const struct code *code, size_t at, uint64_t *to)
{
	return veneer_at(machine, code->bytes + at, code->size - at, code->address + at, to);
}

/* Adds the veneers in CODE that lead to targets. */
static void visit_veneers(void *context, const struct code *code)
{
	struct plt_search *search = context;
	uint64_t to;

	for (size_t i = 0; i < code->size; i += search->machine == EM_ARM ? 2 : 4) {
		const struct target *target = find_veneer(search->machine, code, i, &to) != 0
		                                      ? find_target(search->targets, to)
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

/* Returns bits HIGH to LOW of INSTRUCTION. */
static uint32_t bits(uint32_t instruction, unsigned high, unsigned low)
{
	return instruction >> low & ((UINT32_C(2) << (high - low)) - 1);
}

/* Returns the sum of "auipc rd, a" at PC and an instruction with the immediate LOWER and the source
 * rd. */
static uint64_t riscv_sum(uint64_t pc, uint32_t auipc, uint32_t lower)
{
	return pc + (uint64_t)sign_extend(auipc & 0xfffff000, 32) +
	       (uint64_t)sign_extend(lower, 12);
}

/* Returns true if NEXT is an instruction of form I with OPCODE whose base is the result of
 * AUIPC. */
static bool is_riscv_pair(uint32_t auipc, uint32_t next, uint32_t opcode)
{
	return (auipc & 0x7f) == 0x17 && (next & 0x7f) == opcode &&
	       bits(next, 19, 15) == bits(auipc, 11, 7);
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

/* Returns the section WANTED, or NULL. */
static Elf_Scn *section_named(Elf *elf, const char *wanted, GElf_Shdr *header)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
		const char *name =
		        gelf_getshdr(scn, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
		if (name && strcmp(name, wanted) == 0)
			return scn;
	}
	return NULL;
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

/* Returns the address to which linkage tables of position-independent code of i386 are relative:
 * .got.plt, or .got if mold puts it there or there is no other. */
static uint64_t got_address(Elf *elf)
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

void calls_add_plt(Elf *elf, int machine, struct targets *targets)
{
	struct plt_search search = {.machine = machine, .targets = targets};

	add_filled_slots(elf, targets);
	if (machine == EM_386)
		search.got = got_address(elf);
	each_code(elf, true, visit_plt, &search);
	add_targets(targets, &search.found);
	if (machine == EM_AARCH64 || machine == EM_ARM) {
		search.found = (struct targets){0};
		sort_targets(targets);
		each_code(elf, false, visit_veneers, &search);
		add_targets(targets, &search.found);
	}
}

/* -- calls ------------------------------------------------------------------------------------- */

struct call_search {
	int machine;
	const struct targets *targets;
	call_seen *seen;
	void *context;
};

/* Reports the instruction at PC if ADDRESS is a target.  BEHIND is as in call_seen. */
static void report(const struct call_search *search, uint64_t pc, uint64_t behind, uint64_t address,
                   bool slot)
{
	const struct target *target = find_target(search->targets, address);
	if (target && target->slot == slot)
		search->seen(search->context, pc, behind, target);
}

/* Reports a branch to ADDRESS.  BEHIND: a call returns there; 0 for a jump. */
static void report_branch(const struct call_search *search, uint64_t pc, uint64_t behind,
                          uint64_t address)
{
	report(search, pc, behind, address, false);
}

/* Reports the use of ADDRESS, or of the slot there. */
static void report_use(const struct call_search *search, uint64_t pc, uint64_t address, bool slot)
{
	report(search, pc, 0, address, slot);
}

/* Finds e8 call, e9 jmp, 0f 8x jcc.  With an operand relative to RIP: call, jmp and mov through a
 * slot, lea of a function. */
static void calls_x86(const struct call_search *search, const struct code *code)
{
	bool wide = search->machine == EM_X86_64;
	for (size_t i = 1; i + 4 <= code->size; i++) {
		const unsigned char *p = code->bytes + i;
		bool direct = p[-1] == 0xe8 || p[-1] == 0xe9 ||
		              (i > 1 && p[-2] == 0x0f && (p[-1] & 0xf0) == 0x80);
		bool relative = wide && (p[-1] & 0xc7) == 0x05;
		if (!direct && !relative)
			continue;
		uint64_t pc = code->address + i - 1;
		uint64_t to = code->address + i + 4 + (uint64_t)sign_extend(word_at(p), 32);
		if (!wide)
			to &= UINT32_MAX;
		if (direct)
			report_branch(search, pc, p[-1] == 0xe8 ? pc + 5 : 0, to);
		if (relative)
			report_use(search, pc, to, true);
		if (relative && i > 1 && p[-2] == 0x8d)
			report_use(search, pc, to, false);
	}
}

/* Returns true if INSTRUCTION of AArch64 changes the general register NUMBER.  Data processing and
 * loads have it in the lowest bits.  Calls are left out. */
static bool changes_register(uint32_t instruction, uint32_t number)
{
	const bool is_branch = (instruction & 0x1c000000) == 0x14000000;
	const bool is_store = (instruction & 0x0a400000) == 0x08000000;
	const bool is_of_vectors = (instruction & 0x0c000000) == 0x0c000000;

	return (instruction & 31) == number && !is_branch && !is_store && !is_of_vectors;
}

/* Finds "adrp xN, page", and soon after it ldr from a slot in the page, or add to the address of a
 * function.  Ends where xN gets another value, which often is another page. */
static void address_aarch64(const struct call_search *search, const struct code *code, size_t at)
{
	uint32_t adrp = word_at(code->bytes + at), number = adrp & 31;
	uint64_t pc = code->address + at, page = adrp_page(pc, adrp);

	for (size_t i = at + 4; i + 4 <= code->size && i <= at + 32; i += 4) {
		uint32_t next = word_at(code->bytes + i);
		bool is_from = (next >> 5 & 31) == number;
		if (is_from && (next & 0xffc00000) == 0xf9400000)
			report_use(search, pc, page + (uint64_t)(next >> 10 & 0xfff) * 8, true);
		else if (is_from && (next & 0xffc00000) == 0x91000000)
			report_use(search, pc, page + (next >> 10 & 0xfff), false);
		if (changes_register(next, number))
			break;
	}
}

static void calls_aarch64(const struct call_search *search, const struct code *code)
{
	uint64_t unused;

	for (size_t i = 0; i + 4 <= code->size; i += 4) {
		uint32_t instruction = word_at(code->bytes + i);
		uint64_t pc = code->address + i;
		const size_t veneer = find_veneer(search->machine, code, i, &unused);
		if (veneer != 0) {
			i += veneer - 4; /* its callers count */
			continue;
		}
		if ((instruction & 0x9f000000) == 0x90000000)
			address_aarch64(search, code, i);
		if ((instruction & 0x7c000000) == 0x14000000)
			report_branch(
			        search, pc, instruction >> 31 ? pc + 4 : 0,
			        pc + ((uint64_t)sign_extend(instruction & 0x3ffffff, 26) << 2));
	}
}

static void calls_arm(const struct call_search *search, const struct code *code)
{
	uint64_t unused;

	for (size_t i = 0; i + 4 <= code->size; i += 4) { /* A32: B, BL, BLX */
		uint32_t instruction = word_at(code->bytes + i);
		uint64_t pc = code->address + i;
		/* The second word of such a veneer is a branch or data.  Its callers count. */
		if (i >= 4 && find_veneer(search->machine, code, i - 4, &unused) == 8)
			continue;
		if ((instruction & 0x0e000000) == 0x0a000000)
			report_branch(search, pc, instruction & 0x01000000 ? pc + 4 : 0,
			              (pc + 8 +
			               ((uint64_t)sign_extend(instruction & 0xffffff, 24) << 2)) &
			                      UINT32_MAX);
	}
	for (size_t i = 0; i + 4 <= code->size; i += 2) { /* T32: B.W, BL, BLX */
		uint32_t high = half_at(code->bytes + i), low = half_at(code->bytes + i + 2);
		bool exchange = (low & 0xd000) == 0xc000;
		if ((high & 0xf800) != 0xf000 || !((low & 0x9000) == 0x9000 || exchange))
			continue;
		uint32_t s = high >> 10 & 1, i1 = ~((low >> 13) ^ s) & 1,
		         i2 = ~((low >> 11) ^ s) & 1;
		uint32_t offset =
		        s << 24 | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1;
		uint64_t pc = code->address + i, base = exchange ? (pc + 4) & ~UINT64_C(3) : pc + 4;
		report_branch(search, pc, low & 0x4000 ? pc + 4 : 0,
		              (base + (uint64_t)sign_extend(offset, 25)) & UINT32_MAX);
	}
}

/* Returns true if INSTRUCTION, of RISC-V, puts its return address into ra: it is a call. */
static bool is_link(uint32_t instruction)
{
	return bits(instruction, 11, 7) == 1;
}

/* Finds jal and c.j; auipc with jalr, with a load from a slot, or with addi for the address of a
 * function.  The lowest bits of an instruction hold its length, so the code can be read from its
 * start. */
static void calls_riscv(const struct call_search *search, const struct code *code)
{
	for (size_t i = 0, length; i + 4 <= code->size; i += length) {
		uint32_t instruction = word_at(code->bytes + i);
		uint64_t pc = code->address + i;
		length = (instruction & 3) == 3 ? 4 : 2;
		if (length == 2) {
			uint32_t offset =
			        bits(instruction, 12, 12) << 11 | bits(instruction, 11, 11) << 4 |
			        bits(instruction, 10, 9) << 8 | bits(instruction, 8, 8) << 10 |
			        bits(instruction, 7, 7) << 6 | bits(instruction, 6, 6) << 7 |
			        bits(instruction, 5, 3) << 1 | bits(instruction, 2, 2) << 5;
			if ((instruction & 0xe003) == 0xa001)
				report_branch(search, pc, 0,
				              pc + (uint64_t)sign_extend(offset, 12));
			continue;
		}
		if ((instruction & 0x7f) == 0x6f) {
			uint32_t offset =
			        bits(instruction, 31, 31) << 20 | bits(instruction, 19, 12) << 12 |
			        bits(instruction, 20, 20) << 11 | bits(instruction, 30, 21) << 1;
			report_branch(search, pc, is_link(instruction) ? pc + 4 : 0,
			              pc + (uint64_t)sign_extend(offset, 21));
		}
		uint32_t next = i + 8 <= code->size ? word_at(code->bytes + i + 4) : 0;
		uint64_t sum = riscv_sum(pc, instruction, bits(next, 31, 20));
		if (is_riscv_pair(instruction, next, 0x03))
			report_use(search, pc, sum, true);
		else if (is_riscv_pair(instruction, next, 0x67))
			report_branch(search, pc, is_link(next) ? pc + 8 : 0, sum);
		else if (is_riscv_pair(instruction, next, 0x13))
			report_use(search, pc, sum, false);
	}
}

static void visit_code(void *context, const struct code *code)
{
	const struct call_search *search = context;
	switch (search->machine) {
	case EM_X86_64:
	case EM_386:
		calls_x86(search, code);
		break;
	case EM_AARCH64:
		calls_aarch64(search, code);
		break;
	case EM_ARM:
		calls_arm(search, code);
		break;
	case EM_RISCV:
		calls_riscv(search, code);
		break;
	default:
		break;
	}
}

bool calls_are_known(int machine)
{
	return machine == EM_X86_64 || machine == EM_386 || machine == EM_AARCH64 ||
	       machine == EM_ARM || machine == EM_RISCV;
}

void calls_find(Elf *elf, int machine, struct targets *targets, call_seen *seen, void *context)
{
	struct call_search search = {machine, targets, seen, context};
	if (targets->count == 0)
		return;
	sort_targets(targets);
	each_code(elf, false, visit_code, &search);
}
