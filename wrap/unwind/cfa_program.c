/* cfa_program.c - see cfa_program.h. */
#include "wrap/unwind/cfa_program.h"

#include "wrap/arch/arch.h"

#include <string.h>

#ifdef LEAKWRAP_DWARF_SP

/* The most rows that DW_CFA_remember_state may put aside.  Compilers need one or two. */
#define REMEMBERED_MAX 8

struct machine {
	const struct leakwrap_cie *cie;
	uintptr_t target;   /* the address of the wanted code */
	uintptr_t location; /* the first address that the row is for */
	struct leakwrap_row row;
	struct leakwrap_row initial; /* the row after the CIE's program */
	struct leakwrap_row remembered[REMEMBERED_MAX];
	unsigned remembered_count;
};

/* Returns the entry of REG in ROW, or NULL if no rule needs that register. */
static struct leakwrap_saved_register *find_saved(struct machine *m, struct leakwrap_row *row,
                                                  uint64_t reg)
{
	if (reg == m->cie->ra_register)
		return &row->ra;
	if (reg == LEAKWRAP_DWARF_FP)
		return &row->fp;
	return NULL;
}

static void set_saved(struct machine *m, uint64_t reg, enum leakwrap_row_where where,
                      int64_t offset, const uint8_t *expression)
{
	struct leakwrap_saved_register *saved = find_saved(m, &m->row, reg);

	if (saved)
		*saved = (struct leakwrap_saved_register){where, offset, expression};
}

static void restore_saved(struct machine *m, uint64_t reg)
{
	struct leakwrap_saved_register *saved = find_saved(m, &m->row, reg);

	if (saved)
		*saved = *find_saved(m, &m->initial, reg);
}

/* Skips a block: a length in ULEB128, then that many bytes.  Returns its address. */
static const uint8_t *read_block(struct leakwrap_cursor *c)
{
	const uint8_t *block = c->at;

	leakwrap_skip(c, leakwrap_read_uleb128(c));
	return block;
}

/* Returns FACTOR times the CIE's data alignment.  Factors from the tables may be too large: then
 * the product wraps around, instead of being undefined. */
static int64_t scale(const struct machine *m, int64_t factor)
{
	return (int64_t)((uint64_t)m->cie->data_align * (uint64_t)factor);
}

/* Call frame instructions: DWARF 5, sections 6.4.2 and 7.24.  The vendors' additions are from LSB
 * 5.0 core, section 10.5.2, and from the DWARF for the Arm 64-bit Architecture. */
enum {
	/* The operand is in the low six bits. */
	DW_CFA_advance_loc = 0x40,
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,

	DW_CFA_nop = 0x00,
	DW_CFA_set_loc = 0x01,
	DW_CFA_advance_loc1 = 0x02,
	DW_CFA_advance_loc2 = 0x03,
	DW_CFA_advance_loc4 = 0x04,
	DW_CFA_offset_extended = 0x05,
	DW_CFA_restore_extended = 0x06,
	DW_CFA_undefined = 0x07,
	DW_CFA_same_value = 0x08,
	DW_CFA_register = 0x09,
	DW_CFA_remember_state = 0x0a,
	DW_CFA_restore_state = 0x0b,
	DW_CFA_def_cfa = 0x0c,
	DW_CFA_def_cfa_register = 0x0d,
	DW_CFA_def_cfa_offset = 0x0e,
	DW_CFA_def_cfa_expression = 0x0f,
	DW_CFA_expression = 0x10,
	DW_CFA_offset_extended_sf = 0x11,
	DW_CFA_def_cfa_sf = 0x12,
	DW_CFA_def_cfa_offset_sf = 0x13,
	DW_CFA_val_offset = 0x14,
	DW_CFA_val_offset_sf = 0x15,
	DW_CFA_val_expression = 0x16,
	DW_CFA_AARCH64_negate_ra_state = 0x2d,
	DW_CFA_GNU_args_size = 0x2e,
	DW_CFA_GNU_negative_offset_extended = 0x2f,
};

/* Moves the location on by DELTA code units. */
static void advance(struct machine *m, uint64_t delta)
{
	m->location += (uintptr_t)(delta * m->cie->code_align);
}

/* Runs the instruction OP if it sets the location.  LOW: the operand in the opcode.  Returns false
 * if OP is another instruction. */
static bool set_location(struct machine *m, uint8_t op, uint8_t low, struct leakwrap_cursor *c)
{
	switch (op) {
	case DW_CFA_advance_loc:
		advance(m, low);
		return true;
	case DW_CFA_set_loc:
		m->location = leakwrap_read_pointer(c, m->cie->encoding, 0);
		return true;
	case DW_CFA_advance_loc1:
		advance(m, leakwrap_read_uint(c, 1));
		return true;
	case DW_CFA_advance_loc2:
		advance(m, leakwrap_read_uint(c, 2));
		return true;
	case DW_CFA_advance_loc4:
		advance(m, leakwrap_read_uint(c, 4));
		return true;
	default:
		return false;
	}
}

/* Runs the instruction OP if it defines the CFA.  Returns false if OP is another instruction. */
static bool set_cfa(struct machine *m, uint8_t op, struct leakwrap_cursor *c)
{
	switch (op) {
	case DW_CFA_def_cfa:
		m->row.cfa_register = leakwrap_read_uleb128(c);
		m->row.cfa_offset = (int64_t)leakwrap_read_uleb128(c);
		m->row.cfa_expression = NULL;
		return true;
	case DW_CFA_def_cfa_sf:
		m->row.cfa_register = leakwrap_read_uleb128(c);
		m->row.cfa_offset = scale(m, leakwrap_read_sleb128(c));
		m->row.cfa_expression = NULL;
		return true;
	case DW_CFA_def_cfa_register:
		m->row.cfa_register = leakwrap_read_uleb128(c);
		m->row.cfa_expression = NULL;
		return true;
	case DW_CFA_def_cfa_offset:
		m->row.cfa_offset = (int64_t)leakwrap_read_uleb128(c);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		m->row.cfa_offset = scale(m, leakwrap_read_sleb128(c));
		return true;
	case DW_CFA_def_cfa_expression:
		m->row.cfa_expression = read_block(c);
		return true;
	default:
		return false;
	}
}

/* Runs the instruction OP if it says where a register is saved.  LOW: the operand in the opcode.
 * Returns false if OP is another instruction. */
static bool set_register(struct machine *m, uint8_t op, uint8_t low, struct leakwrap_cursor *c)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset:
		set_saved(m, low, LEAKWRAP_ROW_AT_OFFSET,
		          scale(m, (int64_t)leakwrap_read_uleb128(c)), NULL);
		return true;
	case DW_CFA_restore:
		restore_saved(m, low);
		return true;
	case DW_CFA_offset_extended:
		reg = leakwrap_read_uleb128(c);
		set_saved(m, reg, LEAKWRAP_ROW_AT_OFFSET,
		          scale(m, (int64_t)leakwrap_read_uleb128(c)), NULL);
		return true;
	case DW_CFA_offset_extended_sf:
		reg = leakwrap_read_uleb128(c);
		set_saved(m, reg, LEAKWRAP_ROW_AT_OFFSET, scale(m, leakwrap_read_sleb128(c)), NULL);
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		reg = leakwrap_read_uleb128(c);
		set_saved(m, reg, LEAKWRAP_ROW_AT_OFFSET,
		          scale(m, (int64_t)(0 - leakwrap_read_uleb128(c))), NULL);
		return true;
	case DW_CFA_restore_extended:
		restore_saved(m, leakwrap_read_uleb128(c));
		return true;
	case DW_CFA_undefined:
		set_saved(m, leakwrap_read_uleb128(c), LEAKWRAP_ROW_UNDEFINED, 0, NULL);
		return true;
	case DW_CFA_same_value:
		set_saved(m, leakwrap_read_uleb128(c), LEAKWRAP_ROW_IN_REGISTER, 0, NULL);
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_saved(m, leakwrap_read_uleb128(c), LEAKWRAP_ROW_ELSEWHERE, 0, NULL);
		leakwrap_read_uleb128(c);
		return true;
	case DW_CFA_val_expression:
		set_saved(m, leakwrap_read_uleb128(c), LEAKWRAP_ROW_ELSEWHERE, 0, NULL);
		read_block(c);
		return true;
	case DW_CFA_expression:
		reg = leakwrap_read_uleb128(c);
		set_saved(m, reg, LEAKWRAP_ROW_AT_ADDRESS, 0, read_block(c));
		return true;
	default:
		return false;
	}
}

/* Runs the instructions at C to their end, or until the row for the target is complete.  Returns
 * false if they are damaged or unknown. */
static bool run_program(struct machine *m, struct leakwrap_cursor c)
{
	while (c.at < c.end) {
		const uint8_t byte = (uint8_t)leakwrap_read_uint(&c, 1);
		const uint8_t low = byte & 0x3f, op = byte & 0xc0 ? byte & 0xc0 : byte;

		if (set_location(m, op, low, &c)) {
			if (m->location > m->target)
				return !c.has_failed;
			continue;
		}
		if (set_cfa(m, op, &c) || set_register(m, op, low, &c))
			continue;
		switch (op) {
		case DW_CFA_nop:
		case DW_CFA_AARCH64_negate_ra_state: /* the signature is always stripped */
			break;
		case DW_CFA_GNU_args_size:
			leakwrap_read_uleb128(&c);
			break;
		case DW_CFA_remember_state:
			if (m->remembered_count == REMEMBERED_MAX)
				return false;
			m->remembered[m->remembered_count++] = m->row;
			break;
		case DW_CFA_restore_state:
			if (m->remembered_count == 0)
				return false;
			m->row = m->remembered[--m->remembered_count];
			break;
		default:
			return false;
		}
	}
	return !c.has_failed;
}

bool leakwrap_run_cfa_programs(const struct leakwrap_fde *fde, uintptr_t code,
                               struct leakwrap_row *row)
{
	struct machine m;

	memset(&m, 0, sizeof(m));
	m.cie = &fde->cie;
	m.target = UINTPTR_MAX; /* run all of the CIE's program */
	if (!run_program(&m, fde->cie.program))
		return false;
	m.initial = m.row;
	m.location = fde->start;
	m.target = code;
	if (!run_program(&m, fde->program))
		return false;
	*row = m.row;
	return true;
}

#endif
