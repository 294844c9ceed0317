/* arm_exidx.c - see arm_exidx.h.
 *
 * An entry is a sequence of instructions that undo the function's prologue: they move a virtual stack
 * pointer, "vsp", and pop registers from where it points.  Running them symbolically, with vsp as base +
 * offset, tells where each register was pushed. */
#include "wrap/unwind/arm_exidx.h"

#include <string.h>

/* -- reading ----------------------------------------------------------------------------------- */

static bool read_word(const struct leakwrap_exidx *tables, uintptr_t address, uint32_t *word)
{
	uintptr_t low = (uintptr_t)tables->low, high = (uintptr_t)tables->high;

	if (address < low || address >= high || high - address < sizeof(*word))
		return false;
	memcpy(word, tables->low + (address - low), sizeof(*word));
	return true;
}

/* What a 31-bit offset in the word at ADDRESS points to (EHABI, section 5, "prel31"). */
static uintptr_t target_of(uintptr_t address, uint32_t word)
{
	return address + (uintptr_t)(intptr_t)((int32_t)(word << 1) >> 1);
}

/* The instructions, in the order of their bytes: from the highest byte of each word to the lowest. */
struct bytes {
	const struct leakwrap_exidx *tables;
	uintptr_t next_word;
	unsigned words; /* that follow */
	uint32_t word;
	unsigned left; /* bytes of WORD */
	bool failed;
};

#define FINISH 0xb0u /* also what is read behind the end (section 10.3, remark c) */

static uint32_t take(struct bytes *bytes)
{
	if (bytes->left == 0) {
		if (bytes->words == 0)
			return FINISH;
		if (!read_word(bytes->tables, bytes->next_word, &bytes->word)) {
			bytes->failed = true;
			return FINISH;
		}
		bytes->next_word += sizeof(bytes->word);
		bytes->words--;
		bytes->left = 4;
	}
	bytes->left--;
	return bytes->word >> (8 * bytes->left) & 0xff;
}

/* -- finding the entry ------------------------------------------------------------------------- */

/* The address of the index entry for CODE, or 0. */
static uintptr_t search(const struct leakwrap_exidx *tables, uintptr_t code)
{
	uintptr_t index = (uintptr_t)tables->index;
	size_t first = 0, behind = tables->index_size / 8;
	uint32_t word;

	while (first < behind) {
		size_t middle = first + (behind - first) / 2;
		uintptr_t at = index + 8 * middle;

		if (!read_word(tables, at, &word))
			return 0;
		if (code < target_of(at, word))
			behind = middle;
		else
			first = middle + 1;
	}
	return first == 0 ? 0 : index + 8 * (first - 1);
}

#define CANTUNWIND 1u
#define COMPACT    0x80000000u

/* The instructions for CODE (sections 6 and 7). */
static bool find_instructions(const struct leakwrap_exidx *tables, uintptr_t code, struct bytes *bytes)
{
	uintptr_t at = search(tables, code);
	uint32_t word;

	if (at == 0 || !read_word(tables, at + 4, &word) || word == CANTUNWIND)
		return false;
	at += 4;
	if (!(word & COMPACT)) { /* the entry stands in .ARM.extab */
		at = target_of(at, word);
		if (!read_word(tables, at, &word))
			return false;
	} else if (word >> 24 != 0x80) {
		return false;
	}
	memset(bytes, 0, sizeof(*bytes));
	bytes->tables = tables;
	bytes->next_word = at + 4;
	if (!(word & COMPACT)) {
		/* The generic model: the language's routine, whose data begin like those of the compact model
		 * with a count, for all languages of GCC and LLVM. */
		if (!read_word(tables, at + 4, &bytes->word))
			return false;
		bytes->next_word = at + 8;
		bytes->words = bytes->word >> 24;
		bytes->left = 3;
	} else if (word >> 24 == 0x80) {
		bytes->word = word;
		bytes->left = 3;
	} else if (word >> 24 == 0x81 || word >> 24 == 0x82) {
		bytes->word = word;
		bytes->words = word >> 16 & 0xff;
		bytes->left = 2;
	} else {
		return false;
	}
	return true;
}

/* -- running the instructions ------------------------------------------------------------------ */

#define NOWHERE INT32_MIN

struct machine {
	struct leakwrap_exidx_frame frame;
	int32_t vsp;        /* from the base, or from the loaded sp */
	int32_t lr;         /* where it was pushed */
	bool has_popped;    /* then the base is fixed */
	bool stack_changed; /* sp was loaded: what follows lies elsewhere */
};

/* The largest frame that is believed; also keeps the sums from overflowing. */
#define FRAME_MAX (1 << 28)

static bool move(struct machine *m, int32_t by)
{
	m->vsp += by;
	return m->vsp <= FRAME_MAX && m->vsp >= -FRAME_MAX && !m->stack_changed;
}

/* Pops the registers of MASK, bit N for rN, in ascending order. */
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
		if (!move(m, 4))
			return false;
	}
	if (sp_popped) {
		m->frame.sp_loaded = true;
		m->stack_changed = true;
	}
	return true;
}

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

/* vsp += 0x204 + (uleb128 << 2) */
static bool move_far(struct machine *m, struct bytes *bytes)
{
	uint64_t value = 0;
	uint32_t byte;
	unsigned shift = 0;

	do {
		byte = take(bytes);
		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && shift < 35);
	return value < FRAME_MAX / 8 && move(m, 0x204 + (int32_t)value * 4);
}

/* One instruction, whose first byte is OP; EHABI, section 10.3, table 4. */
static bool run(struct machine *m, uint32_t op, struct bytes *bytes)
{
	uint32_t second;

	if (op < 0x40)
		return move(m, (int32_t)(op << 2) + 4);
	if (op < 0x80)
		return move(m, -(int32_t)((op & 0x3f) << 2) - 4);
	if (op < 0x90) { /* pop r4 to r15 under a mask; none: refuse to unwind */
		uint32_t mask = (op & 0xf) << 8 | take(bytes);

		return mask != 0 && pop(m, mask << 4);
	}
	if (op < 0xa0)
		return set_vsp(m, op & 0xf);
	if (op < 0xb0) /* pop r4 to r4 + n, and lr with bit 3 */
		return pop(m, ((2u << (op & 7)) - 1) << 4 | (op & 8) << 11);
	switch (op) {
	case 0xb1:
		second = take(bytes);
		return second != 0 && second < 0x10 && pop(m, second);
	case 0xb2:
		return move_far(m, bytes);
	case 0xb3: /* VFP registers, as FSTMFDX pushed them */
		return move(m, (int32_t)(take(bytes) & 0xf) * 8 + 12);
	case 0xb4: /* the return address' authentication code */
		return move(m, 4);
	case 0xc6: /* iWMMXt registers, then its control registers */
		return move(m, (int32_t)(take(bytes) & 0xf) * 8 + 8);
	case 0xc7:
		second = take(bytes);
		return second != 0 && second < 0x10 && move(m, __builtin_popcount(second) * 4);
	case 0xc8: /* VFP registers, as VPUSH pushed them */
	case 0xc9:
		return move(m, (int32_t)(take(bytes) & 0xf) * 8 + 8);
	default:
		break;
	}
	if (op >= 0xb8 && op <= 0xbf)
		return move(m, (int32_t)(op & 7) * 8 + 12);
	if ((op >= 0xc0 && op <= 0xc5) || (op >= 0xd0 && op <= 0xd7))
		return move(m, (int32_t)(op & 7) * 8 + 8);
	return false;
}

bool leakwrap_exidx_find(const struct leakwrap_exidx *tables, uintptr_t code,
                         struct leakwrap_exidx_frame *frame)
{
	struct machine m = {.frame = {.r7 = NOWHERE, .r11 = NOWHERE, .pc = NOWHERE}, .lr = NOWHERE};
	struct bytes bytes;
	uint32_t op;

	if (!find_instructions(tables, code, &bytes))
		return false;
	while ((op = take(&bytes)) != FINISH)
		if (!run(&m, op, &bytes))
			return false;
	if (bytes.failed)
		return false;
	if (m.frame.pc == NOWHERE)
		m.frame.pc = m.lr;
	if (!m.frame.sp_loaded)
		m.frame.sp = m.vsp;
	*frame = m.frame;
	return true;
}
