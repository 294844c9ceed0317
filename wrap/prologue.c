/* prologue.c - see prologue.h. */
#include "prologue.h"

#include <string.h>

#include "arch/arch.h"
#include "port.h"

#ifdef LEAKWRAP_RESTORERS

struct restorer {
	uint8_t size;
	uint8_t code[12];
	int32_t sp, pc, fp, lr;
};

bool leakwrap_restorer_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	static const struct restorer restorers[] = {LEAKWRAP_RESTORERS};
	bool readable = pc < end && end - pc >= sizeof(restorers->code);

	if (!readable &&
	    (!leakwrap_readable(pc) || !leakwrap_readable(pc + sizeof(restorers->code) - 1)))
		return false;
	for (size_t i = 0; i < sizeof(restorers) / sizeof(restorers[0]); i++) {
		const struct restorer *restorer = &restorers[i];

		if (memcmp((const void *)pc, restorer->code, restorer->size) == 0) {
			*rule = (struct leakwrap_rule){.kind = LEAKWRAP_RULE_SIGNAL,
			                               .base = LEAKWRAP_BASE_SP,
			                               .ra_place = LEAKWRAP_PLACE_BASE,
			                               .fp_place = LEAKWRAP_PLACE_BASE,
			                               .cfa = restorer->sp,
			                               .add = restorer->lr,
			                               .ra = restorer->pc,
			                               .fp = restorer->fp};
			return true;
		}
	}
	return false;
}

#else

bool leakwrap_restorer_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	(void)pc, (void)end, (void)rule;
	return false;
}

#endif

/* The SIZE bytes of code at DISTANCE before PC. */
static inline uint32_t code_before(uintptr_t pc, unsigned distance, unsigned size)
{
	uint32_t code = 0;

	memcpy(&code, (const void *)(pc - distance), size);
	return code;
}

#if defined(__x86_64__) || defined(__i386__)

/* Intel SDM, volume 2A, "CALL": E8 with a 32-bit offset, FF /2 with any operand. */
bool leakwrap_follows_call(uintptr_t pc, uintptr_t text)
{
	/* Bytes from FF on, by the form of the operand: the ModRM byte's mod and rm fields (section 2.1.3). */
	static const struct {
		uint8_t size, mask, value;
	} forms[] = {
	        {2, 0xf8, 0xd0}, /* register */
	        {2, 0xf8, 0x10}, /* (register) */
	        {3, 0xf8, 0x50}, /* 8-bit offset */
	        {6, 0xf8, 0x90}, /* 32-bit offset */
	        {6, 0xff, 0x15}, /* absolute, or relative to rip */
	        {3, 0xff, 0x14}, /* with an index */
	        {4, 0xff, 0x54}, {7, 0xff, 0x94},
	};

	if (pc - text < 7)
		return false;
	if (code_before(pc, 5, 1) == 0xe8)
		return true;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (code_before(pc, forms[i].size, 1) == 0xff &&
		    (code_before(pc, forms[i].size - 1u, 1) & forms[i].mask) == forms[i].value)
			return true;
	return false;
}

/* PUSH and MOV as compilers write them, behind ENDBR64 or ENDBR32 where jumps are checked. */
uintptr_t leakwrap_framed_callee(uintptr_t pc, uintptr_t text, uintptr_t end)
{
	static const uint8_t set_up[] = {0x55,
#ifdef __x86_64__
	                                 0x48,
#endif
	                                 0x89, 0xe5};
	uintptr_t start, at;

	if (pc - text < 5 || code_before(pc, 5, 1) != 0xe8)
		return 0;
	at = start = pc + (uintptr_t)(intptr_t)(int32_t)code_before(pc, 4, 4);
	if (start < text || start >= end || end - start < 4 + sizeof(set_up))
		return 0;
	if ((code_before(at + 4, 4, 4) & 0xfeffffff) == 0xfa1e0ff3)
		at += 4;
	return memcmp((const void *)at, set_up, sizeof(set_up)) == 0 ? start : 0;
}

#elif defined(__aarch64__)

/* Arm ARM, C6.2: BL, BLR, and BLRAA and its relatives. */
bool leakwrap_follows_call(uintptr_t pc, uintptr_t text)
{
	uint32_t code;

	if (pc - text < 4 || pc % 4 != 0)
		return false;
	code = code_before(pc, 4, 4);
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000 ||
	       (code & 0xfefff800) == 0xd63f0800;
}

#elif defined(__riscv)

/* RISC-V ISA, volume I: JAL and JALR with rd = ra, C.JALR. */
bool leakwrap_follows_call(uintptr_t pc, uintptr_t text)
{
	uint32_t code;

	if (pc - text < 4 || pc % 2 != 0)
		return false;
	code = code_before(pc, 4, 4);
	if ((code & 0xfff) == 0x0ef || (code & 0x7fff) == 0x00e7)
		return true;
	code = code_before(pc, 2, 2);
	return (code & 0xf07f) == 0x9002 && (code & 0x0f80) != 0;
}

#elif defined(__arm__)

/* Arm ARM, A8.8: BL, BLX, in both instruction sets; and, before them, "mov lr, pc" and a jump. */
bool leakwrap_follows_call(uintptr_t pc, uintptr_t text)
{
	uint32_t code;

	if (pc - text < 8 || pc % 2 != 0)
		return false;
	code = code_before(pc, 4, 4);
	if (code == 0xe320f000) /* ARM's NOP, which would be a Thumb BLX to nowhere near */
		return false;
	if (pc % 4 == 0 && ((code & 0x0f000000) == 0x0b000000 || (code & 0xfe000000) == 0xfa000000 ||
	                    (code & 0x0ffffff0) == 0x012fff30 || code_before(pc, 8, 4) == 0xe1a0e00f))
		return true;
	/* The first half word is the lower one. */
	return (code & 0xc000f800) == 0xc000f000 || (code_before(pc, 2, 2) & 0xff87) == 0x4780;
}

#else

bool leakwrap_follows_call(uintptr_t pc, uintptr_t text)
{
	(void)text;
	(void)code_before;
	return pc != 0;
}

#endif
