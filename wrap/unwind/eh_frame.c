/* eh_frame.c - see eh_frame.h.
 *
 * The search in .eh_frame_hdr gives a frame description entry (FDE).  It points to the common
 * information entry (CIE) of its compilation unit.  Both hold a small program.  The CIE's program
 * is run first, then the FDE's up to the wanted address.  The result is a row: how to compute the
 * CFA, and where the return address and the frame pointer were saved.  All other registers are
 * ignored.  A row that uses only sp, fp and constants becomes a rule.  For that, expressions are
 * evaluated symbolically.
 *
 * Every byte is read through a cursor, which stops at the end of the readable range. */
#include "wrap/unwind/eh_frame.h"

#ifdef LEAKWRAP_DWARF_SP

#include <string.h>

/* -- reading ----------------------------------------------------------------------------------- */

struct cursor {
	const uint8_t *at, *end;
	/* A read went past the end, or met an unknown encoding.  All later reads yield 0. */
	bool failed;
};

/* Marks C as failed.  Returns 0. */
static uint64_t fail(struct cursor *c)
{
	c->failed = true;
	c->at = c->end;
	return 0;
}

/* Reads an unsigned integer of SIZE bytes: 1, 2, 4 or 8. */
static uint64_t read_uint(struct cursor *c, unsigned size)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	const uint8_t *at = c->at;

	if (c->failed || !at || (size_t)(c->end - at) < size)
		return fail(c);
	c->at += size;
	switch (size) {
	case 1:
		memcpy(&u8, at, sizeof(u8));
		return u8;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	default:
		memcpy(&u64, at, sizeof(u64));
		return u64;
	}
}

static uint64_t read_uleb128(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = read_uint(c, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return fail(c);
}

static int64_t read_sleb128(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = read_uint(c, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift + 7 < 64)
				value |= ~(uint64_t)0 << (shift + 7);
			return (int64_t)value;
		}
	}
	return (int64_t)fail(c);
}

static void skip(struct cursor *c, uint64_t size)
{
	if (size > (size_t)(c->end - c->at))
		fail(c);
	else
		c->at += size;
}

/* LSB 5.0 core, section 10.5.1, "DWARF Exception Header Encoding". */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_RELATION = 0x70,
	PE_OMIT = 0xff,
};

/* Reads a number in FORMAT, one of PE_ABSPTR to PE_SDATA8. */
static uintptr_t read_encoded(struct cursor *c, uint8_t format)
{
	switch (format) {
	case PE_ABSPTR:
		return (uintptr_t)read_uint(c, sizeof(uintptr_t));
	case PE_ULEB128:
		return (uintptr_t)read_uleb128(c);
	case PE_UDATA2:
		return (uintptr_t)read_uint(c, 2);
	case PE_UDATA4:
		return (uintptr_t)read_uint(c, 4);
	case PE_UDATA8:
		return (uintptr_t)read_uint(c, 8);
	case PE_SLEB128:
		return (uintptr_t)read_sleb128(c);
	case PE_SDATA2:
		return (uintptr_t)(int16_t)read_uint(c, 2);
	case PE_SDATA4:
		return (uintptr_t)(int32_t)read_uint(c, 4);
	case PE_SDATA8:
		return (uintptr_t)(int64_t)read_uint(c, 8);
	default:
		return (uintptr_t)fail(c);
	}
}

/* Reads a pointer.  DATA is the base of data-relative pointers. */
static uintptr_t read_pointer(struct cursor *c, uint8_t encoding, uintptr_t data)
{
	uintptr_t field = (uintptr_t)c->at;
	uintptr_t value = read_encoded(c, encoding & PE_FORMAT);

	switch (encoding & ~PE_FORMAT) {
	case PE_ABSPTR:
		return value;
	case PE_PCREL:
		return field + value;
	case PE_DATAREL:
		return data + value;
	default:
		return (uintptr_t)fail(c);
	}
}

/* Returns a cursor from ADDRESS to the end of the tables. */
static struct cursor cursor_at(const struct leakwrap_cfi *tables, uintptr_t address)
{
	struct cursor c = {tables->high, tables->high, false};

	if (address < (uintptr_t)tables->low || address >= (uintptr_t)tables->high)
		c.failed = true;
	else
		c.at = tables->low + (address - (uintptr_t)tables->low);
	return c;
}

/* -- finding the FDE --------------------------------------------------------------------------- */

/* Returns the address of the FDE that may cover CODE, or 0.  LSB 5.0 core, section 10.6.2. */
static uintptr_t find_fde(const struct leakwrap_cfi *tables, uintptr_t code)
{
	struct cursor c = cursor_at(tables, (uintptr_t)tables->header);
	uintptr_t header = (uintptr_t)tables->header;
	const uint8_t *table;
	size_t first = 0, end;

	if (c.failed || tables->header_size > (size_t)(c.end - c.at))
		return 0;
	c.end = c.at + tables->header_size;

	uint64_t version = read_uint(&c, 1);
	uint8_t frame_encoding = (uint8_t)read_uint(&c, 1);
	uint8_t count_encoding = (uint8_t)read_uint(&c, 1);
	uint64_t table_encoding = read_uint(&c, 1);

	if (version != 1 || count_encoding == PE_OMIT || table_encoding != (PE_DATAREL | PE_SDATA4))
		return 0;
	if (frame_encoding != PE_OMIT)
		read_pointer(&c, frame_encoding, header);
	end = read_pointer(&c, count_encoding, header);
	if (c.failed || end > (size_t)(c.end - c.at) / 8)
		return 0;

	/* Sorted pairs: the start of the code, and the FDE.  Both are relative to the header. */
	table = c.at;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		int32_t start;

		memcpy(&start, table + 8 * middle, sizeof(start));
		if (code < header + (uintptr_t)start)
			end = middle;
		else
			first = middle + 1;
	}
	if (first == 0)
		return 0;

	int32_t fde;

	memcpy(&fde, table + 8 * (first - 1) + 4, sizeof(fde));
	return header + (uintptr_t)fde;
}

/* -- CIE and FDE ------------------------------------------------------------------------------- */

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_register;
	uint8_t encoding; /* of the pointers in its FDEs */
	bool augmented;   /* its FDEs have augmentation data */
	bool signal_frame;
	struct cursor program; /* its call frame instructions */
};

/* Returns a cursor over the entry at ADDRESS, without the entry's length field. */
static struct cursor entry_at(const struct leakwrap_cfi *tables, uintptr_t address)
{
	struct cursor c = cursor_at(tables, address);
	uint64_t length = read_uint(&c, 4);

	if (length == 0xffffffff)
		length = read_uint(&c, 8);
	if (length == 0 || length > (size_t)(c.end - c.at))
		fail(&c);
	else
		c.end = c.at + length;
	return c;
}

/* Reads the augmentation DATA of a CIE.  Its LETTERS, those behind the 'z', tell the meaning of
 * DATA (LSB 5.0 core, section 10.6.1).  Returns false if a letter is unknown or DATA too short. */
static bool read_augmentation(struct cie *cie, struct cursor letters, struct cursor data)
{
	uint8_t letter;

	while ((letter = (uint8_t)read_uint(&letters, 1)) != 0) {
		switch (letter) {
		case 'R': /* the encoding of the pointers in its FDEs */
			cie->encoding = (uint8_t)read_uint(&data, 1);
			break;
		case 'P': { /* the personality routine */
			uint8_t encoding = (uint8_t)read_uint(&data, 1);

			read_encoded(&data, encoding & PE_FORMAT);
			break;
		}
		case 'L': /* the encoding of pointers to language-specific data */
			read_uint(&data, 1);
			break;
		case 'S': /* the frame that the kernel builds for a signal */
			cie->signal_frame = true;
			break;
		case 'B': /* AArch64: return addresses are signed with the B key */
		case 'G': /* AArch64: the code uses memory tags */
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

/* Reads the CIE at ADDRESS into *CIE.  Returns false if it is damaged or of an unknown kind. */
static bool read_cie(const struct leakwrap_cfi *tables, uintptr_t address, struct cie *cie)
{
	struct cursor c = entry_at(tables, address);
	struct cursor augmentation;
	uint64_t version;
	uint8_t letter;

	if (read_uint(&c, 4) != 0)
		return false;
	version = read_uint(&c, 1);
	if (version != 1 && version != 3 && version != 4)
		return false;
	augmentation = c;
	while (read_uint(&c, 1) != 0)
		;
	if (version == 4) {
		uint64_t address_size = read_uint(&c, 1), segment_size = read_uint(&c, 1);

		if (address_size != sizeof(uintptr_t) || segment_size != 0)
			return false;
	}
	cie->code_align = read_uleb128(&c);
	cie->data_align = read_sleb128(&c);
	cie->ra_register = version == 1 ? read_uint(&c, 1) : read_uleb128(&c);
	cie->encoding = PE_ABSPTR;
	cie->augmented = false;
	cie->signal_frame = false;

	letter = (uint8_t)read_uint(&augmentation, 1);
	if (letter == 'z') {
		uint64_t size = read_uleb128(&c);

		cie->augmented = true;
		if (!read_augmentation(cie, augmentation, c))
			return false;
		skip(&c, size);
	} else if (letter != 0) {
		return false;
	}
	cie->program = c;
	return !c.failed;
}

/* -- running the programs ---------------------------------------------------------------------- */

/* Where the caller's value of a register is. */
enum saved_where {
	IN_REGISTER, /* still in the register */
	UNDEFINED,   /* lost; for the return address: there is no caller */
	AT_OFFSET,   /* in the word at CFA + offset */
	AT_ADDRESS,  /* in the word at the address that the expression yields */
	ELSEWHERE,   /* in another register, or computed */
};

struct saved_register {
	enum saved_where where;
	int64_t offset;
	const uint8_t *expression; /* a DWARF expression: its length in ULEB128, then its bytes */
};

struct row {
	uint64_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* not NULL: the CFA, instead of register + offset */
	struct saved_register ra, fp;
};

/* The most rows that DW_CFA_remember_state may put aside.  Compilers need one or two. */
#define REMEMBERED_MAX 8

struct machine {
	const struct cie *cie;
	uintptr_t target;   /* the address of the wanted code */
	uintptr_t location; /* the first address that the row is for */
	struct row row;
	struct row initial; /* the row after the CIE's program */
	struct row remembered[REMEMBERED_MAX];
	unsigned remembered_count;
};

/* Returns the entry of REG in ROW, or NULL if no rule needs that register. */
static struct saved_register *find_saved(struct machine *m, struct row *row, uint64_t reg)
{
	if (reg == m->cie->ra_register)
		return &row->ra;
	if (reg == LEAKWRAP_DWARF_FP)
		return &row->fp;
	return NULL;
}

static void set_saved(struct machine *m, uint64_t reg, enum saved_where where, int64_t offset,
                      const uint8_t *expression)
{
	struct saved_register *saved = find_saved(m, &m->row, reg);

	if (saved)
		*saved = (struct saved_register){where, offset, expression};
}

static void restore_saved(struct machine *m, uint64_t reg)
{
	struct saved_register *saved = find_saved(m, &m->row, reg);

	if (saved)
		*saved = *find_saved(m, &m->initial, reg);
}

/* Skips a block: a length in ULEB128, then that many bytes.  Returns its address. */
static const uint8_t *read_block(struct cursor *c)
{
	const uint8_t *block = c->at;

	skip(c, read_uleb128(c));
	return block;
}

/* Returns FACTOR times the CIE's data alignment.  Factors from the tables may be too large: then
 * the product wraps around, instead of being undefined. */
static int64_t scale(const struct machine *m, int64_t factor)
{
	return (int64_t)((uint64_t)m->cie->data_align * (uint64_t)factor);
}

/* Moves the location on by DELTA code units.  Returns true if the row for the target is
 * complete. */
static bool advance(struct machine *m, uint64_t delta)
{
	m->location += (uintptr_t)(delta * m->cie->code_align);
	return m->location > m->target;
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

/* Runs the instructions at C to their end, or until the row for the target is complete.  Returns
 * false if they are damaged or unknown. */
static bool run_program(struct machine *m, struct cursor c)
{
	uint64_t reg;

	while (c.at < c.end) {
		uint8_t byte = (uint8_t)read_uint(&c, 1);
		uint8_t low = byte & 0x3f;

		switch (byte & 0xc0) {
		case DW_CFA_advance_loc:
			if (advance(m, low))
				return !c.failed;
			continue;
		case DW_CFA_offset:
			set_saved(m, low, AT_OFFSET, scale(m, (int64_t)read_uleb128(&c)), NULL);
			continue;
		case DW_CFA_restore:
			restore_saved(m, low);
			continue;
		}
		switch (low) {
		case DW_CFA_nop:
			break;
		case DW_CFA_set_loc:
			m->location = read_pointer(&c, m->cie->encoding, 0);
			if (m->location > m->target)
				return !c.failed;
			break;
		case DW_CFA_advance_loc1:
			if (advance(m, read_uint(&c, 1)))
				return !c.failed;
			break;
		case DW_CFA_advance_loc2:
			if (advance(m, read_uint(&c, 2)))
				return !c.failed;
			break;
		case DW_CFA_advance_loc4:
			if (advance(m, read_uint(&c, 4)))
				return !c.failed;
			break;
		case DW_CFA_offset_extended:
			reg = read_uleb128(&c);
			set_saved(m, reg, AT_OFFSET, scale(m, (int64_t)read_uleb128(&c)), NULL);
			break;
		case DW_CFA_restore_extended:
			restore_saved(m, read_uleb128(&c));
			break;
		case DW_CFA_undefined:
			set_saved(m, read_uleb128(&c), UNDEFINED, 0, NULL);
			break;
		case DW_CFA_same_value:
			set_saved(m, read_uleb128(&c), IN_REGISTER, 0, NULL);
			break;
		case DW_CFA_register:
			set_saved(m, read_uleb128(&c), ELSEWHERE, 0, NULL);
			read_uleb128(&c);
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
		case DW_CFA_def_cfa:
			m->row.cfa_register = read_uleb128(&c);
			m->row.cfa_offset = (int64_t)read_uleb128(&c);
			m->row.cfa_expression = NULL;
			break;
		case DW_CFA_def_cfa_register:
			m->row.cfa_register = read_uleb128(&c);
			m->row.cfa_expression = NULL;
			break;
		case DW_CFA_def_cfa_offset:
			m->row.cfa_offset = (int64_t)read_uleb128(&c);
			break;
		case DW_CFA_def_cfa_expression:
			m->row.cfa_expression = read_block(&c);
			break;
		case DW_CFA_expression:
			reg = read_uleb128(&c);
			set_saved(m, reg, AT_ADDRESS, 0, read_block(&c));
			break;
		case DW_CFA_offset_extended_sf:
			reg = read_uleb128(&c);
			set_saved(m, reg, AT_OFFSET, scale(m, read_sleb128(&c)), NULL);
			break;
		case DW_CFA_def_cfa_sf:
			m->row.cfa_register = read_uleb128(&c);
			m->row.cfa_offset = scale(m, read_sleb128(&c));
			m->row.cfa_expression = NULL;
			break;
		case DW_CFA_def_cfa_offset_sf:
			m->row.cfa_offset = scale(m, read_sleb128(&c));
			break;
		case DW_CFA_val_offset:
		case DW_CFA_val_offset_sf:
			set_saved(m, read_uleb128(&c), ELSEWHERE, 0, NULL);
			read_uleb128(&c);
			break;
		case DW_CFA_val_expression:
			set_saved(m, read_uleb128(&c), ELSEWHERE, 0, NULL);
			read_block(&c);
			break;
		case DW_CFA_AARCH64_negate_ra_state: /* the signature is always stripped */
			break;
		case DW_CFA_GNU_args_size:
			read_uleb128(&c);
			break;
		case DW_CFA_GNU_negative_offset_extended:
			reg = read_uleb128(&c);
			set_saved(m, reg, AT_OFFSET, scale(m, (int64_t)(0 - read_uleb128(&c))),
			          NULL);
			break;
		default:
			return false;
		}
	}
	return !c.failed;
}

/* -- expressions ------------------------------------------------------------------------------- */

/* A symbolic value: the values of sp and fp are not known yet. */
struct value {
	enum {
		NUMBER,   /* number */
		REGISTER, /* base + number */
		WORD      /* the word at base + inner, plus number */
	} kind;
	uint8_t base; /* enum leakwrap_rule_base */
	int64_t inner;
	int64_t number;
};

/* The stack of an expression. */
#define VALUES_MAX 16

struct values {
	struct value value[VALUES_MAX];
	unsigned count;
	bool failed; /* too many values, too few, or a value that cannot be expressed */
};

static void push(struct values *values, struct value value)
{
	if (values->count == VALUES_MAX)
		values->failed = true;
	else
		values->value[values->count++] = value;
}

static void push_number(struct values *values, int64_t number)
{
	push(values, (struct value){NUMBER, 0, 0, number});
}

static struct value pop(struct values *values)
{
	if (values->count == 0) {
		values->failed = true;
		return (struct value){NUMBER, 0, 0, 0};
	}
	return values->value[--values->count];
}

/* Pushes the value of register REG plus OFFSET.  The return address column yields PC. */
static void push_register(struct values *values, uint64_t reg, int64_t offset, uint64_t ra_register,
                          uintptr_t pc)
{
	if (reg == LEAKWRAP_DWARF_SP)
		push(values, (struct value){REGISTER, LEAKWRAP_BASE_SP, 0, offset});
	else if (reg == LEAKWRAP_DWARF_FP)
		push(values, (struct value){REGISTER, LEAKWRAP_BASE_FP, 0, offset});
	else if (reg == ra_register)
		push_number(values, (int64_t)(pc + (uint64_t)offset));
	else
		values->failed = true;
}

/* Operations of expressions: DWARF 5, sections 2.5.1 and 7.7.1. */
enum {
	DW_OP_deref = 0x06,
	DW_OP_const1u = 0x08,
	DW_OP_const1s = 0x09,
	DW_OP_const2u = 0x0a,
	DW_OP_const2s = 0x0b,
	DW_OP_const4u = 0x0c,
	DW_OP_const4s = 0x0d,
	DW_OP_const8u = 0x0e,
	DW_OP_const8s = 0x0f,
	DW_OP_constu = 0x10,
	DW_OP_consts = 0x11,
	DW_OP_dup = 0x12,
	DW_OP_drop = 0x13,
	DW_OP_and = 0x1a,
	DW_OP_minus = 0x1c,
	DW_OP_mul = 0x1e,
	DW_OP_or = 0x21,
	DW_OP_plus = 0x22,
	DW_OP_plus_uconst = 0x23,
	DW_OP_shl = 0x24,
	DW_OP_shr = 0x25,
	DW_OP_xor = 0x27,
	DW_OP_eq = 0x29,
	DW_OP_ge = 0x2a,
	DW_OP_gt = 0x2b,
	DW_OP_le = 0x2c,
	DW_OP_lt = 0x2d,
	DW_OP_ne = 0x2e,
	DW_OP_lit0 = 0x30,
	DW_OP_lit31 = 0x4f,
	DW_OP_breg0 = 0x70,
	DW_OP_breg31 = 0x8f,
	DW_OP_bregx = 0x92,
	DW_OP_nop = 0x96,
};

/* Applies OP, which has two operands, to the top of the stack (DWARF 5, sections 2.5.1.4 and
 * 2.5.1.5). */
static void apply_binary(struct values *values, uint8_t op)
{
	struct value b = pop(values), a = pop(values);
	uint64_t x = (uint64_t)a.number, y = (uint64_t)b.number;

	if (op == DW_OP_plus && a.kind == NUMBER) { /* the number becomes the second operand */
		struct value swap = a;

		a = b;
		b = swap;
	}
	if (b.kind != NUMBER || (a.kind != NUMBER && op != DW_OP_plus && op != DW_OP_minus)) {
		values->failed = true;
		return;
	}
	switch (op) {
	case DW_OP_and:
		x &= y;
		break;
	case DW_OP_minus:
		x -= y;
		break;
	case DW_OP_mul:
		x *= y;
		break;
	case DW_OP_or:
		x |= y;
		break;
	case DW_OP_plus:
		x += y;
		break;
	case DW_OP_shl:
		x = y < 64 ? x << y : 0;
		break;
	case DW_OP_shr:
		x = y < 64 ? x >> y : 0;
		break;
	case DW_OP_xor:
		x ^= y;
		break;
	case DW_OP_eq:
		x = x == y;
		break;
	case DW_OP_ge:
		x = (int64_t)x >= (int64_t)y;
		break;
	case DW_OP_gt:
		x = (int64_t)x > (int64_t)y;
		break;
	case DW_OP_le:
		x = (int64_t)x <= (int64_t)y;
		break;
	case DW_OP_lt:
		x = (int64_t)x < (int64_t)y;
		break;
	case DW_OP_ne:
		x = x != y;
		break;
	default:
		values->failed = true;
	}
	a.number = (int64_t)x;
	push(values, a);
}

/* Evaluates EXPRESSION for the code at PC into *RESULT.  HIGH: the end of the readable range.
 * Knows the operations that compilers, assemblers and linkers write for frames (DWARF 5, section
 * 2.5.1).  Returns false if the expression is damaged, or if *RESULT cannot express its value. */
static bool evaluate(const uint8_t *expression, const uint8_t *high, uint64_t ra_register,
                     uintptr_t pc, struct value *result)
{
	struct cursor c = {expression, high, false};
	struct values values = {.count = 0};
	uint64_t length = read_uleb128(&c);

	if (length > (size_t)(c.end - c.at))
		return false;
	c.end = c.at + length;
	while (c.at < c.end && !values.failed) {
		uint8_t op = (uint8_t)read_uint(&c, 1);
		struct value v;

		switch (op) {
		case DW_OP_deref:
			v = pop(&values);
			if (v.kind != REGISTER)
				return false;
			push(&values, (struct value){WORD, v.base, v.number, 0});
			break;
		case DW_OP_const1u:
			push_number(&values, (int64_t)read_uint(&c, 1));
			break;
		case DW_OP_const1s:
			push_number(&values, (int8_t)read_uint(&c, 1));
			break;
		case DW_OP_const2u:
			push_number(&values, (int64_t)read_uint(&c, 2));
			break;
		case DW_OP_const2s:
			push_number(&values, (int16_t)read_uint(&c, 2));
			break;
		case DW_OP_const4u:
			push_number(&values, (int64_t)read_uint(&c, 4));
			break;
		case DW_OP_const4s:
			push_number(&values, (int32_t)read_uint(&c, 4));
			break;
		case DW_OP_const8u:
		case DW_OP_const8s:
			push_number(&values, (int64_t)read_uint(&c, 8));
			break;
		case DW_OP_constu:
			push_number(&values, (int64_t)read_uleb128(&c));
			break;
		case DW_OP_consts:
			push_number(&values, read_sleb128(&c));
			break;
		case DW_OP_dup:
			v = pop(&values);
			push(&values, v);
			push(&values, v);
			break;
		case DW_OP_drop:
			pop(&values);
			break;
		case DW_OP_plus_uconst:
			push_number(&values, (int64_t)read_uleb128(&c));
			apply_binary(&values, DW_OP_plus);
			break;
		case DW_OP_bregx: {
			uint64_t reg = read_uleb128(&c);

			push_register(&values, reg, read_sleb128(&c), ra_register, pc);
			break;
		}
		case DW_OP_nop:
			break;
		default:
			if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
				push_number(&values, op - DW_OP_lit0);
			else if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
				push_register(&values, op - (unsigned)DW_OP_breg0, read_sleb128(&c),
				              ra_register, pc);
			else
				apply_binary(&values, op);
		}
	}
	*result = pop(&values);
	return !values.failed && !c.failed;
}

/* -- from the row to the rule ------------------------------------------------------------------ */

/* Stores OFFSET in *TO.  Returns false if it does not fit. */
static bool to_int32(int64_t offset, int32_t *to)
{
	*to = (int32_t)offset;
	return *to == offset;
}

/* Translates SAVED into *WHERE (enum leakwrap_saved_where) and *OFFSET of a rule with BASE.
 * Returns false if such a rule cannot express it. */
static bool locate_saved(const struct saved_register *saved, const uint8_t *high,
                         uint64_t ra_register, uintptr_t pc, uint8_t base, uint8_t *where,
                         int32_t *offset)
{
	struct value address;

	*offset = 0;
	switch (saved->where) {
	case IN_REGISTER:
		*where = LEAKWRAP_SAVED_IN_REGISTER;
		return true;
	case AT_OFFSET:
		*where = LEAKWRAP_SAVED_AT_CFA;
		return to_int32(saved->offset, offset);
	case AT_ADDRESS:
		*where = LEAKWRAP_SAVED_AT_BASE;
		return evaluate(saved->expression, high, ra_register, pc, &address) &&
		       address.kind == REGISTER && address.base == base &&
		       to_int32(address.number, offset);
	default:
		*where = LEAKWRAP_SAVED_NOWHERE;
		return true;
	}
}

/* Turns ROW into *RULE.  Returns false if a rule cannot express the row. */
static bool make_rule(const struct row *row, const uint8_t *high, uint64_t ra_register,
                      uintptr_t pc, struct leakwrap_rule *rule)
{
	struct value cfa;

	if (row->ra.where == UNDEFINED) {
		rule->kind = LEAKWRAP_RULE_END;
		return true;
	}
	if (row->cfa_expression) {
		if (!evaluate(row->cfa_expression, high, ra_register, pc, &cfa))
			return false;
	} else {
		struct values values = {.count = 0};

		push_register(&values, row->cfa_register, row->cfa_offset, ra_register, pc);
		if (values.failed)
			return false;
		cfa = pop(&values);
	}
	rule->base = cfa.base;
	if (cfa.kind == REGISTER) {
		rule->kind = LEAKWRAP_RULE_FRAME;
		if (!to_int32(cfa.number, &rule->cfa_offset))
			return false;
	} else if (cfa.kind == WORD) {
		rule->kind = LEAKWRAP_RULE_INDIRECT;
		if (!to_int32(cfa.inner, &rule->cfa_offset) || !to_int32(cfa.number, &rule->add))
			return false;
	} else {
		return false;
	}
	return locate_saved(&row->ra, high, ra_register, pc, rule->base, &rule->ra_where,
	                    &rule->ra_offset) &&
	       rule->ra_where != LEAKWRAP_SAVED_NOWHERE &&
	       locate_saved(&row->fp, high, ra_register, pc, rule->base, &rule->fp_where,
	                    &rule->fp_offset);
}

/* Turns RULE into that of a signal frame.  C libraries describe the frame that the kernel builds
 * for a signal handler by expressions.  Returns false if RULE does not come from such
 * expressions. */
static bool make_signal_rule(struct leakwrap_rule *rule)
{
	if (rule->kind != LEAKWRAP_RULE_INDIRECT || rule->base != LEAKWRAP_BASE_SP ||
	    rule->add != 0 || rule->ra_where != LEAKWRAP_SAVED_AT_BASE ||
	    rule->fp_where != LEAKWRAP_SAVED_AT_BASE)
		return false;
	rule->kind = LEAKWRAP_RULE_SIGNAL;
	return true;
}

bool leakwrap_cfi_rule(const struct leakwrap_cfi *tables, uintptr_t pc, bool interrupted,
                       struct leakwrap_rule *rule)
{
	/* If the call never returns, the return address may lie in the next function. */
	uintptr_t code = interrupted ? pc : pc - 1;
	struct cursor fde = entry_at(tables, find_fde(tables, code));
	uintptr_t back_field = (uintptr_t)fde.at;
	uint64_t back = read_uint(&fde, 4);
	uintptr_t start, size;
	struct cie cie;
	struct machine m;

	memset(rule, 0, sizeof(*rule));
	if (fde.failed || back == 0 || !read_cie(tables, back_field - (uintptr_t)back, &cie))
		return false;
	start = read_pointer(&fde, cie.encoding, 0);
	size = read_encoded(&fde, cie.encoding & PE_FORMAT);
	if (cie.augmented)
		skip(&fde, read_uleb128(&fde));
	if (fde.failed || code - start >= size)
		return false;

	memset(&m, 0, sizeof(m));
	m.cie = &cie;
	m.location = 0;
	m.target = UINTPTR_MAX; /* run all of the CIE's program */
	if (!run_program(&m, cie.program))
		return false;
	m.initial = m.row;
	m.location = start;
	m.target = code;
	if (!run_program(&m, fde) || !make_rule(&m.row, tables->high, cie.ra_register, pc, rule))
		return false;
	return !cie.signal_frame || make_signal_rule(rule);
}

#else

bool leakwrap_cfi_rule(const struct leakwrap_cfi *tables, uintptr_t pc, bool interrupted,
                       struct leakwrap_rule *rule)
{
	(void)tables;
	(void)pc;
	(void)interrupted;
	(void)rule;
	return false;
}

#endif
