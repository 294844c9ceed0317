/* calls.c - see calls.h.
 *
 * Forms of instructions: Intel SDM volume 2 (CALL, JMP, ModR/M with RIP); Arm ARM (B, BL, ADRP,
 * LDR; T32 BL and BLX); RISC-V unprivileged ISA (AUIPC, JAL, JALR, C.J).
 */
#include "tools/elf/calls.h"

#include "tools/elf/code.h"
#include "tools/elf/linkage_tables.h"
#include "tools/elf/little_endian.h"
#include "tools/elf/riscv_pair.h"
#include "tools/elf/veneers.h"

struct call_search {
	int machine;
	uint64_t got; /* see got_address */
	const struct targets *targets;
	call_seen *seen;
	void *context;
};

/* Reports the instruction at PC if ADDRESS is a target.  BEHIND is as in call_seen. */
static void report(const struct call_search *search, uint64_t pc, uint64_t behind, uint64_t address,
                   bool slot)
{
	const struct target *target = targets_find(search->targets, address);
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

/* Where position-independent code of i386 has last pointed a register to the GOT, by registers; 0:
 * nowhere. */
struct bases {
	uint64_t set_at[8];
};

/* Behind the instruction that points a register to the GOT, this many bytes of code may use it: few
 * if any call may change the register (eax, ecx, edx). */
static uint64_t base_reach(unsigned number)
{
	return number < 3 ? 256 : 65536;
}

/* Finds "call thunk; add $offset, %reg" and "call next; pop %reg; ...; add", where the code behind
 * AT is the offset. */
static void note_base(const struct call_search *search, const struct code *code, size_t at,
                      struct bases *bases)
{
	const unsigned char *p = code->bytes + at;
	const bool is_short = p[-1] == 0x05; /* add $offset, %eax */

	if (!is_short && (at < 2 || p[-2] != 0x81 || (p[-1] & 0xf8) != 0xc0))
		return;
	const uint64_t add = code->address + at - (is_short ? 1 : 2);
	const uint64_t from = (search->got - word_at(p)) & UINT32_MAX;
	if (from <= add && add - from <= 16)
		bases->set_at[is_short ? 0 : p[-1] & 7] = code->address + at;
}

/* Finds a call or jump of i386 through a slot, whose address or distance from the GOT is behind AT.
 * Without -fPIE any instruction may read a slot. */
static void use_i386(const struct call_search *search, const struct code *code, size_t at,
                     const struct bases *bases)
{
	const unsigned char *p = code->bytes + at;
	const unsigned base = p[-1] & 7;
	const uint64_t pc = code->address + at - 1;

	if ((p[-1] & 0xc7) == 0x05)
		report_use(search, pc, word_at(p), true);
	if (at < 2 || p[-2] != 0xff || ((p[-1] & 0xf8) != 0x90 && (p[-1] & 0xf8) != 0xa0))
		return;
	if (bases->set_at[base] != 0 && pc - bases->set_at[base] < base_reach(base))
		report_use(search, pc, (search->got + word_at(p)) & UINT32_MAX, true);
}

/* Finds e8 call, e9 jmp, 0f 8x jcc.  With an operand relative to RIP: call, jmp and mov through a
 * slot, lea of a function. */
static void calls_x86(const struct call_search *search, const struct code *code)
{
	bool wide = search->machine == EM_X86_64;
	struct bases bases = {0};
	for (size_t i = 1; i + 4 <= code->size; i++) {
		const unsigned char *p = code->bytes + i;
		bool direct = p[-1] == 0xe8 || p[-1] == 0xe9 ||
		              (i > 1 && p[-2] == 0x0f && (p[-1] & 0xf0) == 0x80);
		bool relative = wide && (p[-1] & 0xc7) == 0x05;
		if (!wide) {
			note_base(search, code, i, &bases);
			use_i386(search, code, i, &bases);
		}
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
	struct call_search search = {machine, 0, targets, seen, context};
	if (targets->count == 0)
		return;
	if (machine == EM_386)
		search.got = got_address(elf);
	targets_sort(targets);
	each_code(elf, false, visit_code, &search);
}
