/* arm_exidx.c - see arm_exidx.h.
 *
 * An entry is a sequence of instructions that undo the function's prologue.  They move a virtual
 * stack pointer, "vsp", and pop registers from where it points.  This file runs them symbolically,
 * with vsp as base + offset.  The result is where each register was pushed. */
#include "wrap/unwind/arm_exidx.h"

#include <string.h>

/* -- reading ----------------------------------------------------------------------------------- */

/* Reads the word at ADDRESS into *WORD.  Returns false if it lies outside the readable range. */
static bool read_table_word(const struct leakwrap_exidx *tables, uintptr_t address, uint32_t *word)
{
	uintptr_t low = (uintptr_t)tables->low, high = (uintptr_t)tables->high;

	if (address < low || address >= high || high - address < sizeof(*word))
		return false;
	memcpy(word, tables->low + (address - low), sizeof(*word));
	return true;
}

/* Returns the target of WORD, a 31-bit offset that stands at ADDRESS (EHABI, section 5,
 * "prel31"). */
static uintptr_t prel31_target(uintptr_t address, uint32_t word)
{
	return address + (uintptr_t)(intptr_t)((int32_t)(word << 1) >> 1);
}

/* Reads the instructions byte by byte: each word from its highest byte to its lowest. */
struct byte_reader {
	const struct leakwrap_exidx *tables;
	uintptr_t next_word; /* the address of the next word */
	unsigned words_left; /* words from there on */
	uint32_t word;       /* the current word */
	unsigned left;       /* its bytes that were not read yet */
	bool has_failed;     /* a word lies outside the readable range */
};

/* EHABI, section 10.3, table 4.  The variable bits of an opcode are 0 in its value here. */
enum opcode {
	OP_ADD_VSP = 0x00,       /* 00xxxxxx: vsp += (x << 2) + 4 */
	OP_SUB_VSP = 0x40,       /* 01xxxxxx: vsp -= (x << 2) + 4 */
	OP_POP_R4_TO_R15 = 0x80, /* 1000iiii iiiiiiii: under the mask i; 0: refuse to unwind */
	OP_SET_VSP = 0x90,       /* 1001nnnn: vsp = rN */
	OP_POP_R4_RANGE = 0xa0,  /* 1010lnnn: r4 to r4 + n; also lr if l is set */
	OP_FINISH = 0xb0,
	OP_POP_R0_TO_R3 = 0xb1,    /* 0000iiii follows: under the mask i */
	OP_ADD_VSP_ULEB128 = 0xb2, /* ULEB128 x follows: vsp += 0x204 + (x << 2) */
	OP_POP_VFP_FSTMFDX = 0xb3, /* sssscccc follows: c + 1 registers, as FSTMFDX pushed them */
	OP_POP_AUTH_CODE = 0xb4,   /* the authentication code of the return address */
	OP_POP_D8_FSTMFDX = 0xb8,  /* 10111nnn: d8 to d8 + n, as FSTMFDX pushed them */
	OP_POP_WR10 = 0xc0,        /* 11000nnn, n < 6: iWMMXt registers wR10 to wR10 + n */
	OP_POP_WR = 0xc6,          /* sssscccc follows: c + 1 iWMMXt registers */
	OP_POP_WCGR = 0xc7,        /* 0000iiii follows: iWMMXt control registers under the mask i */
	OP_POP_VFP_D16 = 0xc8,     /* sssscccc follows: c + 1 registers, as VPUSH pushed them */
	OP_POP_VFP = 0xc9,         /* sssscccc follows: c + 1 registers, as VPUSH pushed them */
	OP_POP_D8 = 0xd0,          /* 11010nnn: d8 to d8 + n, as VPUSH pushed them */
};

/* Returns the next byte.  Behind the last one it is OP_FINISH (section 10.3, remark c). */
static uint32_t next_byte(struct byte_reader *bytes)
{
	if (bytes->left == 0) {
		if (bytes->words_left == 0)
			return OP_FINISH;
		if (!read_table_word(bytes->tables, bytes->next_word, &bytes->word)) {
			bytes->has_failed = true;
			return OP_FINISH;
		}
		bytes->next_word += sizeof(bytes->word);
		bytes->words_left--;
		bytes->left = 4;
	}
	bytes->left--;
	return bytes->word >> (8 * bytes->left) & 0xff;
}

/* -- finding the entry ------------------------------------------------------------------------- */

/* Returns the address of the index entry for CODE, or 0. */
static uintptr_t find_index_entry(const struct leakwrap_exidx *tables, uintptr_t code)
{
	uintptr_t index = (uintptr_t)tables->index;
	size_t first = 0, end = tables->index_size / 8;
	uint32_t word;

	while (first < end) {
		size_t middle = first + (end - first) / 2;
		uintptr_t at = index + 8 * middle;

		if (!read_table_word(tables, at, &word))
			return 0;
		if (code < prel31_target(at, word))
			end = middle;
		else
			first = middle + 1;
	}
	return first == 0 ? 0 : index + 8 * (first - 1);
}

/* The second word of an index entry, and the first word of an entry (sections 5 and 6). */
#define CANTUNWIND 1u
#define COMPACT    0x80000000u /* set: the compact model; bits 24 to 31 are one of: */
#define COMPACT_0  0x80u       /* three bytes of instructions follow */
#define COMPACT_1  0x81u       /* a count of further words follows, then instructions */
#define COMPACT_2  0x82u       /* as COMPACT_1 */

/* Sets *BYTES to the instructions for CODE (sections 6 and 7).  Returns false if there are none. */
static bool find_instructions(const struct leakwrap_exidx *tables, uintptr_t code,
                              struct byte_reader *bytes)
{
	uintptr_t at = find_index_entry(tables, code);
	uint32_t word;

	if (at == 0 || !read_table_word(tables, at + 4, &word) || word == CANTUNWIND)
		return false;
	at += 4;
	if (!(word & COMPACT)) { /* the entry stands in .ARM.extab */
		at = prel31_target(at, word);
		if (!read_table_word(tables, at, &word))
			return false;
	} else if (word >> 24 != COMPACT_0) {
		return false;
	}
	memset(bytes, 0, sizeof(*bytes));
	bytes->tables = tables;
	bytes->next_word = at + 4;
	if (!(word & COMPACT)) {
		/* The generic model: a personality routine, then its data.  In all languages of GCC
		 * and LLVM the data begin with a count of words and instructions, as in
		 * COMPACT_1. */
		if (!read_table_word(tables, at + 4, &bytes->word))
			return false;
		bytes->next_word = at + 8;
		bytes->words_left = bytes->word >> 24;
		bytes->left = 3;
	} else if (word >> 24 == COMPACT_0) {
		bytes->word = word;
		bytes->left = 3;
	} else if (word >> 24 == COMPACT_1 || word >> 24 == COMPACT_2) {
		bytes->word = word;
		bytes->words_left = word >> 16 & 0xff;
		bytes->left = 2;
	} else {
		return false;
	}
	return true;
}

/* -- running the instructions ------------------------------------------------------------------ */

struct machine {
	struct leakwrap_exidx_frame frame;
	int32_t vsp;        /* offset from the base, or from the loaded sp */
	int32_t lr;         /* offset of the pushed lr, or LEAKWRAP_EXIDX_SAME */
	bool has_popped;    /* a register was popped: the base can change no more */
	bool stack_changed; /* sp was popped: offsets from the base mean nothing any more */
};

/* The largest plausible frame, in bytes.  The limit also keeps the sums from overflowing. */
#define FRAME_MAX (1 << 28)

/* Adds BY to vsp.  Returns false if the frame gets implausibly large, or if sp was popped. */
static bool move_vsp(struct machine *m, int32_t by)
{
	m->vsp += by;
	return m->vsp <= FRAME_MAX && m->vsp >= -FRAME_MAX && !m->stack_changed;
}

/* Pops the registers of MASK, bit N for rN, in ascending order.  Returns false as move_vsp does. */
static bool pop(struct machine *m, uint32_t mask)
{
	bool sp_popped = false;

	for (unsigned reg = 0; reg < 16; reg++) {
		if (!(mask >> reg & 1))
			continue;
		switch (reg) {
		case 7:
			m->frame.r7 = m->vsp;
			break;
		case 11:
			m->frame.r11 = m->vsp;
			break;
		case 13:
			m->frame.sp = m->vsp;
			sp_popped = true;
			break;
		case 14:
			m->lr = m->vsp;
			break;
		case 15:
			m->frame.pc = m->vsp;
			break;
		default:
			break;
		}
		m->has_popped = true;
		if (!move_vsp(m, 4))
			return false;
	}
	if (sp_popped) {
		m->frame.sp_loaded = true;
		m->stack_changed = true;
	}
	return true;
}

/* Makes register REG the base.  Returns false if REG is no frame pointer, if vsp has moved, or if
 * the base was changed before. */
static bool set_vsp(struct machine *m, unsigned reg)
{
	if (m->has_popped || m->vsp != 0 || m->frame.base != LEAKWRAP_EXIDX_SP)
		return false;
	if (reg == 7)
		m->frame.base = LEAKWRAP_EXIDX_R7;
	else if (reg == 11)
		m->frame.base = LEAKWRAP_EXIDX_R11;
	else
		return false;
	return true;
}

/* Runs OP_ADD_VSP_ULEB128. */
static bool move_vsp_far(struct machine *m, struct byte_reader *bytes)
{
	uint64_t value = 0;
	uint32_t byte;
	unsigned shift = 0;

	do {
		byte = next_byte(bytes);
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && shift < 35);
	return value < FRAME_MAX / 8 && move_vsp(m, 0x204 + (int32_t)value * 4);
}

/* Runs the instruction whose first byte is OP.  Returns false if it cannot be run symbolically, is
 * spare, or refuses to unwind. */
static bool run_instruction(struct machine *m, uint32_t op, struct byte_reader *bytes)
{
	uint32_t second;

	if (op < OP_SUB_VSP)
		return move_vsp(m, (int32_t)(op << 2) + 4);
	if (op < OP_POP_R4_TO_R15)
		return move_vsp(m, -(int32_t)((op & 0x3f) << 2) - 4);
	if (op < OP_SET_VSP) {
		uint32_t mask = (op & 0xf) << 8 | next_byte(bytes);

		return mask != 0 && pop(m, mask << 4);
	}
	if (op < OP_POP_R4_RANGE)
		return set_vsp(m, op & 0xf);
	if (op < OP_FINISH)
		return pop(m, ((2u << (op & 7)) - 1) << 4 | (op & 8) << 11);
	switch (op) {
	case OP_POP_R0_TO_R3:
		second = next_byte(bytes);
		return second != 0 && second < 0x10 && pop(m, second);
	case OP_ADD_VSP_ULEB128:
		return move_vsp_far(m, bytes);
	case OP_POP_VFP_FSTMFDX:
		return move_vsp(m, (int32_t)(next_byte(bytes) & 0xf) * 8 + 12);
	case OP_POP_AUTH_CODE:
		return move_vsp(m, 4);
	case OP_POP_WR:
		return move_vsp(m, (int32_t)(next_byte(bytes) & 0xf) * 8 + 8);
	case OP_POP_WCGR:
		second = next_byte(bytes);
		return second != 0 && second < 0x10 && move_vsp(m, __builtin_popcount(second) * 4);
	case OP_POP_VFP_D16:
	case OP_POP_VFP:
		return move_vsp(m, (int32_t)(next_byte(bytes) & 0xf) * 8 + 8);
	default:
		break;
	}
	if (op >= OP_POP_D8_FSTMFDX && op < OP_POP_WR10)
		return move_vsp(m, (int32_t)(op & 7) * 8 + 12);
	if ((op >= OP_POP_WR10 && op < OP_POP_WR) || (op >= OP_POP_D8 && op <= OP_POP_D8 + 7))
		return move_vsp(m, (int32_t)(op & 7) * 8 + 8);
	return false;
}

bool leakwrap_exidx_find(const struct leakwrap_exidx *tables, uintptr_t code,
                         struct leakwrap_exidx_frame *frame)
{
	struct machine m = {.frame = {.r7 = LEAKWRAP_EXIDX_SAME,
	                              .r11 = LEAKWRAP_EXIDX_SAME,
	                              .pc = LEAKWRAP_EXIDX_SAME},
	                    .lr = LEAKWRAP_EXIDX_SAME};
	struct byte_reader bytes;
	uint32_t op;

	if (!find_instructions(tables, code, &bytes))
		return false;
	while ((op = next_byte(&bytes)) != OP_FINISH)
		if (!run_instruction(&m, op, &bytes))
			return false;
	if (bytes.has_failed)
		return false;
	if (m.frame.pc == LEAKWRAP_EXIDX_SAME)
		m.frame.pc = m.lr;
	if (!m.frame.sp_loaded)
		m.frame.sp = m.vsp;
	*frame = m.frame;
	return true;
}
