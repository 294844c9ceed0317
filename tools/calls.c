/* calls.c - see calls.h.
 *
 * Instruction forms: Intel SDM volume 2 (CALL, JMP, ModR/M with RIP), Arm ARM (B, BL, ADRP, LDR; T32 BL
 * and BLX), and the PLT entries that ld.bfd, gold, ld.lld and mold write.
 */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

struct code {
	uint64_t address;
	const unsigned char *bytes;
	size_t size;
	unsigned entry; /* size of an entry, of a linkage table */
};

static uint32_t word_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

static uint32_t half_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
}

/* The lowest BITS of VALUE as a signed number. */
static int64_t sign_extend(uint64_t value, unsigned bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* -- targets ------------------------------------------------------------------------------------- */

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
	return low < targets->count && targets->all[low].address == address ? &targets->all[low] : NULL;
}

/* -- sections ------------------------------------------------------------------------------------ */

/* Calls VISIT for each section of code; PLT says which kind. */
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
		if ((name && (strncmp(name, ".plt", 4) == 0 || strncmp(name, ".iplt", 5) == 0)) != plt)
			continue;
		Elf_Data *data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			continue;
		struct code code = {header.sh_addr, data->d_buf, data->d_size,
		                    header.sh_entsize == 8 ? 8 : 16};
		visit(context, &code);
	}
}

/* -- linkage tables ------------------------------------------------------------------------------ */

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

/* An ARM immediate: eight bits, rotated right by twice the four bits above them. */
static uint32_t arm_immediate(uint32_t instruction)
{
	uint32_t value = instruction & 0xff, rotation = 2 * (instruction >> 8 & 15);
	return rotation ? value >> rotation | value << (32 - rotation) : value;
}

static void plt_x86(struct plt_search *search, const struct code *code)
{
	for (size_t i = 0; i + 6 <= code->size; i++) {
		const unsigned char *p = code->bytes + i;
		uint64_t entry = code->address + i / code->entry * code->entry, slot;
		if (p[0] != 0xff || (p[1] != 0x25 && p[1] != 0xa3))
			continue;
		if (search->machine == EM_X86_64)
			slot = code->address + i + 6 + (uint64_t)sign_extend(word_at(p + 2), 32);
		else
			slot = (word_at(p + 2) + (p[1] == 0xa3 ? search->got : 0)) & UINT32_MAX;
		plt_slot(search, entry, slot);
	}
}

/* adrp x16, page; ldr x17, [x16, #offset] */
static void plt_aarch64(struct plt_search *search, const struct code *code)
{
	for (size_t i = 0; i + 8 <= code->size; i += 4) {
		uint32_t adrp = word_at(code->bytes + i), ldr = word_at(code->bytes + i + 4);
		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		uint64_t pc = code->address + i;
		uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
		uint64_t slot = (pc & ~UINT64_C(0xfff)) + ((uint64_t)sign_extend(pages, 21) << 12);
		slot += (uint64_t)(ldr >> 10 & 0xfff) * 8;
		plt_slot(search, pc, slot);
		plt_slot(search, pc - 4, slot); /* behind a landing pad, bti c */
	}
}

/* add ip, pc, #a; add ip, ip, #b; ldr pc, [ip, #c]! and longer forms; "bx pc" in front for Thumb. */
static void plt_arm(struct plt_search *search, const struct code *code)
{
	for (size_t i = 0; i + 8 <= code->size; i += 4) {
		uint32_t first = word_at(code->bytes + i);
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
	default:
		break;
	}
}

/* Where .got.plt, or else .got, lies. */
static uint64_t got_address(Elf *elf)
{
	size_t names;
	uint64_t got = 0;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
		GElf_Shdr header;
		const char *name =
		        gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
		if (name && strcmp(name, ".got.plt") == 0)
			return header.sh_addr;
		if (name && strcmp(name, ".got") == 0)
			got = header.sh_addr;
	}
	return got;
}

void calls_add_plt(Elf *elf, int machine, struct targets *targets)
{
	struct plt_search search = {.machine = machine, .got = got_address(elf), .targets = targets};
	each_code(elf, true, visit_plt, &search);
	for (size_t i = 0; i < search.found.count; i++)
		targets_add(targets, search.found.all[i].address, search.found.all[i].symbol, false);
	free(search.found.all);
}

/* -- calls --------------------------------------------------------------------------------------- */

struct call_search {
	int machine;
	const struct targets *targets;
	call_seen *seen;
	void *context;
};

static void report_call(const struct call_search *search, uint64_t pc, uint64_t address, bool slot)
{
	const struct target *target = find_target(search->targets, address);
	if (target && target->slot == slot)
		search->seen(search->context, pc, target);
}

/* e8 call, e9 jmp, 0f 8x jcc; with a memory operand relative to RIP: call, jmp and mov through a slot,
 * lea of the function itself. */
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
			report_call(search, pc, to, false);
		if (relative)
			report_call(search, pc, to, true);
		if (relative && i > 1 && p[-2] == 0x8d)
			report_call(search, pc, to, false);
	}
}

static void calls_aarch64(const struct call_search *search, const struct code *code)
{
	for (size_t i = 0; i + 4 <= code->size; i += 4) {
		uint32_t instruction = word_at(code->bytes + i);
		uint64_t pc = code->address + i;
		if ((instruction & 0x7c000000) == 0x14000000)
			report_call(search, pc,
			            pc + ((uint64_t)sign_extend(instruction & 0x3ffffff, 26) << 2),
			            false);
	}
}

static void calls_arm(const struct call_search *search, const struct code *code)
{
	for (size_t i = 0; i + 4 <= code->size; i += 4) { /* A32: B, BL, BLX */
		uint32_t instruction = word_at(code->bytes + i);
		uint64_t pc = code->address + i;
		if ((instruction & 0x0e000000) == 0x0a000000)
			report_call(
			        search, pc,
			        (pc + 8 + ((uint64_t)sign_extend(instruction & 0xffffff, 24) << 2)) &
			                UINT32_MAX,
			        false);
	}
	for (size_t i = 0; i + 4 <= code->size; i += 2) { /* T32: B.W, BL, BLX */
		uint32_t high = half_at(code->bytes + i), low = half_at(code->bytes + i + 2);
		bool exchange = (low & 0xd000) == 0xc000;
		if ((high & 0xf800) != 0xf000 || !((low & 0x9000) == 0x9000 || exchange))
			continue;
		uint32_t s = high >> 10 & 1, i1 = ~((low >> 13) ^ s) & 1, i2 = ~((low >> 11) ^ s) & 1;
		uint32_t offset =
		        s << 24 | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1;
		uint64_t pc = code->address + i, base = exchange ? (pc + 4) & ~UINT64_C(3) : pc + 4;
		report_call(search, pc, (base + (uint64_t)sign_extend(offset, 25)) & UINT32_MAX, false);
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
	default:
		break;
	}
}

bool calls_known(int machine)
{
	return machine == EM_X86_64 || machine == EM_386 || machine == EM_AARCH64 || machine == EM_ARM;
}

void calls_find(Elf *elf, int machine, struct targets *targets, call_seen *seen, void *context)
{
	struct call_search search = {machine, targets, seen, context};
	if (targets->count == 0)
		return;
	qsort(targets->all, targets->count, sizeof *targets->all, compare_targets);
	each_code(elf, false, visit_code, &search);
}
