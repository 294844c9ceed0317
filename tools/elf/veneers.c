/* veneers.c - see veneers.h.
 *
 * Forms of instructions: Arm ARM (ADRP, ADD, BR; A32 and T32 MOVW, MOVT, BX, LDR).  The veneers are
 * those of ld.bfd, gold, ld.lld and mold.
 */
#include "tools/elf/veneers.h"

#include <elf.h>

#include "tools/elf/little_endian.h"

uint64_t adrp_page(uint64_t pc, uint32_t adrp)
{
	uint64_t pages = (adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	return (pc & ~UINT64_C(0xfff)) + ((uint64_t)sign_extend(pages, 21) << 12);
}

/* "adrp x16, page; add x16, x16, #offset; br x16".  mold puts it everywhere. */
static size_t veneer_aarch64(const unsigned char *bytes, size_t size, uint64_t address,
                             uint64_t *to)
{
	if (size < 12)
		return 0;
	const uint32_t adrp = word_at(bytes), add = word_at(bytes + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (add & 0xffc003ff) != 0x91000210 ||
	    word_at(bytes + 8) != 0xd61f0200)
		return 0;
	*to = adrp_page(address, adrp) + (add >> 10 & 0xfff);
	return 12;
}

#define ADD_IP_PC 0xe08cc00fu /* add ip, ip, pc */
#define BX_IP     0xe12fff1cu

/* ARM code: "ldr pc, [pc, #-4]" of bfd and gold, "ldr ip, [pc]; add pc, ip, pc" of gold, "ldr ip,
 * [pc, #4]; add ip, ip, pc; bx ip" of mold, each with a word behind, or "movw ip, #low; movt ip,
 * #high; bx ip" of lld, with an add of pc where the code is position-independent. */
static size_t veneer_arm(const unsigned char *bytes, size_t size, uint64_t address, uint64_t *to)
{
	const uint32_t first = word_at(bytes), second = word_at(bytes + 4);
	const uint32_t third = size < 12 ? 0 : word_at(bytes + 8);
	const uint32_t fourth = size < 16 ? 0 : word_at(bytes + 12);

	if (first == 0xe51ff004) {
		*to = second;
		return 8;
	}
	if (first == 0xe59fc000 && second == 0xe08cf00f && size >= 12) {
		*to = address + 12 + third;
		return 12;
	}
	if (first == 0xe59fc004 && second == ADD_IP_PC && third == BX_IP && size >= 16) {
		*to = address + 12 + fourth;
		return 16;
	}
	if ((first & 0xfff0f000) != 0xe300c000 || (second & 0xfff0f000) != 0xe340c000)
		return 0;
	*to = (first >> 4 & 0xf000) | (first & 0xfff) |
	      ((second >> 4 & 0xf000) | (second & 0xfff)) << 16;
	if (third == BX_IP)
		return 12;
	*to += address + 16;
	return third == ADD_IP_PC && fourth == BX_IP ? 16 : 0;
}

/* Returns the immediate of MOVW or MOVT of T32, whose halves are HIGH and LOW. */
static uint32_t thumb_immediate(uint32_t high, uint32_t low)
{
	return (high & 15) << 12 | (high >> 10 & 1) << 11 | (low >> 12 & 7) << 8 | (low & 0xff);
}

/* Thumb code: a change to ARM code, which is a veneer or jumps itself, or "movw ip, #low; movt ip,
 * #high; bx ip" of lld, likewise. */
static size_t veneer_thumb(const unsigned char *bytes, size_t size, uint64_t address, uint64_t *to)
{
	const uint32_t first = word_at(bytes), second = word_at(bytes + 4);
	const uint32_t third = size >= 12   ? word_at(bytes + 8)
	                       : size >= 10 ? half_at(bytes + 8)
	                                    : 0;

	/* "bx pc; nop" or "mov ip, pc; bx ip" */
	if (first == 0x46c04778 || first == 0xe7fd4778 || first == 0x476046fc) {
		const size_t behind =
		        size < 12 ? 0 : veneer_arm(bytes + 4, size - 4, address + 4, to);
		if (behind != 0)
			return 4 + behind;
		if ((second & 0xff000000) != 0xea000000) /* b */
			return 0;
		*to = address + 12 + ((uint64_t)sign_extend(second & 0xffffff, 24) << 2);
		return 8;
	}
	if ((first & 0x8f00fbf0) != 0x0c00f240 || (second & 0x8f00fbf0) != 0x0c00f2c0)
		return 0;
	*to = thumb_immediate(first & 0xffff, first >> 16) |
	      thumb_immediate(second & 0xffff, second >> 16) << 16;
	if ((third & 0xffff) == 0x4760)
		return 10;
	*to += address + 12;
	return third == 0x476044fc ? 12 : 0; /* add ip, pc; bx ip */
}

size_t veneer_at(int machine, const unsigned char *bytes, size_t size, uint64_t address,
                 uint64_t *to)
{
	size_t length = 0;

	if (machine == EM_AARCH64)
		return veneer_aarch64(bytes, size, address, to);
	if (machine != EM_ARM || size < 8)
		return 0;
	if (address % 4 == 0)
		length = veneer_arm(bytes, size, address, to);
	if (length == 0)
		length = veneer_thumb(bytes, size, address, to);
	if (length != 0)
		*to &= UINT32_MAX & ~UINT64_C(1);
	return length;
}
