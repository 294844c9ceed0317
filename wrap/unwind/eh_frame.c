/* eh_frame.c - see eh_frame.h.
 *
 * The search in .eh_frame_hdr gives a frame description entry (FDE), which points to the common
 * information entry (CIE) of its compilation unit.  Both hold a small program; running the CIE's, then
 * the FDE's up to the wanted address, yields a row: how to compute the CFA, and where the return address
 * and the frame pointer were saved.  All other registers are skipped over.  A row becomes a rule when it
 * is made of sp, fp and constants alone; expressions are evaluated symbolically for that.
 *
 * Every byte comes through a cursor that stops at the end of what may be read. */
#include "wrap/unwind/eh_frame.h"

#ifdef LEAKWRAP_DWARF_SP

#include <string.h>

/* -- reading ----------------------------------------------------------------------------------- */

struct cursor {
	const uint8_t *at, *end;
	bool failed; /* ran past the end, or met what it does not know; everything read then is 0 */
};

static uint64_t fail(struct cursor *c)
{
	c->failed = true;
	c->at = c->end;
	return 0;
}

static uint64_t take(struct cursor *c, unsigned size)
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

static uint64_t take_uleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = take(c, 1);

		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return fail(c);
}

static int64_t take_sleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = take(c, 1);

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

static uintptr_t take_format(struct cursor *c, uint8_t format)
{
	switch (format) {
	case PE_ABSPTR:
		return (uintptr_t)take(c, sizeof(uintptr_t));
	case PE_ULEB128:
		return (uintptr_t)take_uleb(c);
	case PE_UDATA2:
		return (uintptr_t)take(c, 2);
	case PE_UDATA4:
		return (uintptr_t)take(c, 4);
	case PE_UDATA8:
		return (uintptr_t)take(c, 8);
	case PE_SLEB128:
		return (uintptr_t)take_sleb(c);
	case PE_SDATA2:
		return (uintptr_t)(int16_t)take(c, 2);
	case PE_SDATA4:
		return (uintptr_t)(int32_t)take(c, 4);
	case PE_SDATA8:
		return (uintptr_t)(int64_t)take(c, 8);
	default:
		return (uintptr_t)fail(c);
	}
}

/* A pointer; DATA is what data-relative ones count from. */
static uintptr_t take_pointer(struct cursor *c, uint8_t encoding, uintptr_t data)
{
	uintptr_t field = (uintptr_t)c->at;
	uintptr_t value = take_format(c, encoding & PE_FORMAT);

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

/* A cursor from ADDRESS to the end of the tables. */
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

/* The address of the FDE that may cover CODE; 0: none.  LSB 5.0 core, section 10.6.2. */
static uintptr_t search(const struct leakwrap_cfi *tables, uintptr_t code)
{
	struct cursor c = cursor_at(tables, (uintptr_t)tables->header);
	uintptr_t header = (uintptr_t)tables->header;
	const uint8_t *table;
	size_t first = 0, behind;

	if (c.failed || tables->header_size > (size_t)(c.end - c.at))
		return 0;
	c.end = c.at + tables->header_size;

	uint64_t version = take(&c, 1);
	uint8_t frame_encoding = (uint8_t)take(&c, 1);
	uint8_t count_encoding = (uint8_t)take(&c, 1);
	uint64_t table_encoding = take(&c, 1);

	if (version != 1 || count_encoding == PE_OMIT || table_encoding != (PE_DATAREL | PE_SDATA4))
		return 0;
	if (frame_encoding != PE_OMIT)
		take_pointer(&c, frame_encoding, header);
	behind = take_pointer(&c, count_encoding, header);
	if (c.failed || behind > (size_t)(c.end - c.at) / 8)
		return 0;

	/* Sorted pairs: start of the code, FDE; both relative to the header. */
	table = c.at;
	while (first < behind) {
		size_t middle = first + (behind - first) / 2;
		int32_t start;

		memcpy(&start, table + 8 * middle, sizeof(start));
		if (code < header + (uintptr_t)start)
			behind = middle;
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
	struct cursor program;
};

/* The length of the entry at ADDRESS, and a cursor behind that which ends with the entry. */
static struct cursor entry_at(const struct leakwrap_cfi *tables, uintptr_t address)
{
	struct cursor c = cursor_at(tables, address);
	uint64_t length = take(&c, 4);

	if (length == 0xffffffff)
		length = take(&c, 8);
	if (length == 0 || length > (size_t)(c.end - c.at))
		fail(&c);
	else
		c.end = c.at + length;
	return c;
}

/* The LETTERS behind the first one of a CIE's augmentation tell what its DATA is (LSB 5.0 core, section 10.6.1). */
static bool read_augmentation(struct cie *cie, struct cursor letters, struct cursor data)
{
	uint8_t letter;

	while ((letter = (uint8_t)take(&letters, 1)) != 0) {
		switch (letter) {
		case 'R':
			cie->encoding = (uint8_t)take(&data, 1);
			break;
		case 'P': {
			uint8_t encoding = (uint8_t)take(&data, 1);

			take_format(&data, encoding & PE_FORMAT);
			break;
		}
		case 'L':
			take(&data, 1);
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B': /* AArch64: return addresses are signed with the B key */
		case 'G':
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

static bool read_cie(const struct leakwrap_cfi *tables, uintptr_t address, struct cie *cie)
{
	struct cursor c = entry_at(tables, address);
	struct cursor augmentation;
	uint64_t version;
	uint8_t letter;

	if (take(&c, 4) != 0)
		return false;
	version = take(&c, 1);
	if (version != 1 && version != 3 && version != 4)
		return false;
	augmentation = c;
	while (take(&c, 1) != 0)
		;
	if (version == 4) {
		uint64_t address_size = take(&c, 1), segment_size = take(&c, 1);

		if (address_size != sizeof(uintptr_t) || segment_size != 0)
			return false;
	}
	cie->code_align = take_uleb(&c);
	cie->data_align = take_sleb(&c);
	cie->ra_register = version == 1 ? take(&c, 1) : take_uleb(&c);
	cie->encoding = PE_ABSPTR;
	cie->augmented = false;
	cie->signal_frame = false;

	letter = (uint8_t)take(&augmentation, 1);
	if (letter == 'z') {
		uint64_t size = take_uleb(&c);

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

enum how {
	SAME,       /* in its register */
	UNDEFINED,  /* lost; for the return address: there is no caller */
	AT_OFFSET,  /* in the word at CFA + offset */
	AT_ADDRESS, /* in the word at the address that the expression gives */
	ELSEWHERE,  /* in another register, or computed */
};

struct saved {
	enum how how;
	int64_t offset;
	const uint8_t *expression; /* its length in ULEB128, then itself */
};

struct row {
	uint64_t cfa_register;
	int64_t cfa_offset;
	const uint8_t *cfa_expression; /* instead of both, when not NULL */
	struct saved ra, fp;
};

/* Rows that DW_CFA_remember_state has put aside; compilers need one or two. */
#define REMEMBERED_MAX 8

struct machine {
	const struct cie *cie;
	uintptr_t target; /* the wanted code */
	uintptr_t location;
	struct row row;
	struct row initial; /* as the CIE left it */
	struct row remembered[REMEMBERED_MAX];
	unsigned remembered_count;
};

/* What the machine keeps for REGISTER, or NULL when it is none that matters. */
static struct saved *saved_of(struct machine *m, struct row *row, uint64_t reg)
{
	if (reg == m->cie->ra_register)
		return &row->ra;
	if (reg == LEAKWRAP_DWARF_FP)
		return &row->fp;
	return NULL;
}

static void set(struct machine *m, uint64_t reg, enum how how, int64_t offset,
                const uint8_t *expression)
{
	struct saved *saved = saved_of(m, &m->row, reg);

	if (saved)
		*saved = (struct saved){how, offset, expression};
}

static void restore(struct machine *m, uint64_t reg)
{
	struct saved *saved = saved_of(m, &m->row, reg);

	if (saved)
		*saved = *saved_of(m, &m->initial, reg);
}

static const uint8_t *take_block(struct cursor *c)
{
	const uint8_t *block = c->at;

	skip(c, take_uleb(c));
	return block;
}

/* Products and sums of what the tables say wrap around instead of being undefined. */
static int64_t scaled(const struct machine *m, int64_t factor)
{
	return (int64_t)((uint64_t)m->cie->data_align * (uint64_t)factor);
}

/* Moves on by DELTA; true when the row for the target is complete. */
static bool advance(struct machine *m, uint64_t delta)
{
	m->location += (uintptr_t)(delta * m->cie->code_align);
	return m->location > m->target;
}

/* DWARF 5, section 6.4.2 and 7.24; the vendors' additions from LSB 5.0 core, section 10.5.2.  Runs until
 * the end of the program or behind the target.  False when it is damaged. */
static bool run(struct machine *m, struct cursor c)
{
	uint64_t reg;

	while (c.at < c.end) {
		uint8_t byte = (uint8_t)take(&c, 1);
		uint8_t low = byte & 0x3f;

		switch (byte & 0xc0) {
		case 0x40: /* DW_CFA_advance_loc */
			if (advance(m, low))
				return !c.failed;
			continue;
		case 0x80: /* DW_CFA_offset */
			set(m, low, AT_OFFSET, scaled(m, (int64_t)take_uleb(&c)), NULL);
			continue;
		case 0xc0: /* DW_CFA_restore */
			restore(m, low);
			continue;
		}
		switch (low) {
		case 0x00: /* DW_CFA_nop */
			break;
		case 0x01: /* DW_CFA_set_loc */
			m->location = take_pointer(&c, m->cie->encoding, 0);
			if (m->location > m->target)
				return !c.failed;
			break;
		case 0x02: /* DW_CFA_advance_loc1, 2, 4 */
			if (advance(m, take(&c, 1)))
				return !c.failed;
			break;
		case 0x03:
			if (advance(m, take(&c, 2)))
				return !c.failed;
			break;
		case 0x04:
			if (advance(m, take(&c, 4)))
				return !c.failed;
			break;
		case 0x05: /* DW_CFA_offset_extended */
			reg = take_uleb(&c);
			set(m, reg, AT_OFFSET, scaled(m, (int64_t)take_uleb(&c)), NULL);
			break;
		case 0x06: /* DW_CFA_restore_extended */
			restore(m, take_uleb(&c));
			break;
		case 0x07: /* DW_CFA_undefined */
			set(m, take_uleb(&c), UNDEFINED, 0, NULL);
			break;
		case 0x08: /* DW_CFA_same_value */
			set(m, take_uleb(&c), SAME, 0, NULL);
			break;
		case 0x09: /* DW_CFA_register */
			set(m, take_uleb(&c), ELSEWHERE, 0, NULL);
			take_uleb(&c);
			break;
		case 0x0a: /* DW_CFA_remember_state */
			if (m->remembered_count == REMEMBERED_MAX)
				return false;
			m->remembered[m->remembered_count++] = m->row;
			break;
		case 0x0b: /* DW_CFA_restore_state */
			if (m->remembered_count == 0)
				return false;
			m->row = m->remembered[--m->remembered_count];
			break;
		case 0x0c: /* DW_CFA_def_cfa */
			m->row.cfa_register = take_uleb(&c);
			m->row.cfa_offset = (int64_t)take_uleb(&c);
			m->row.cfa_expression = NULL;
			break;
		case 0x0d: /* DW_CFA_def_cfa_register */
			m->row.cfa_register = take_uleb(&c);
			m->row.cfa_expression = NULL;
			break;
		case 0x0e: /* DW_CFA_def_cfa_offset */
			m->row.cfa_offset = (int64_t)take_uleb(&c);
			break;
		case 0x0f: /* DW_CFA_def_cfa_expression */
			m->row.cfa_expression = take_block(&c);
			break;
		case 0x10: /* DW_CFA_expression */
			reg = take_uleb(&c);
			set(m, reg, AT_ADDRESS, 0, take_block(&c));
			break;
		case 0x11: /* DW_CFA_offset_extended_sf */
			reg = take_uleb(&c);
			set(m, reg, AT_OFFSET, scaled(m, take_sleb(&c)), NULL);
			break;
		case 0x12: /* DW_CFA_def_cfa_sf */
			m->row.cfa_register = take_uleb(&c);
			m->row.cfa_offset = scaled(m, take_sleb(&c));
			m->row.cfa_expression = NULL;
			break;
		case 0x13: /* DW_CFA_def_cfa_offset_sf */
			m->row.cfa_offset = scaled(m, take_sleb(&c));
			break;
		case 0x14: /* DW_CFA_val_offset, DW_CFA_val_offset_sf */
		case 0x15:
			set(m, take_uleb(&c), ELSEWHERE, 0, NULL);
			take_uleb(&c);
			break;
		case 0x16: /* DW_CFA_val_expression */
			set(m, take_uleb(&c), ELSEWHERE, 0, NULL);
			take_block(&c);
			break;
		case 0x2d: /* DW_CFA_AARCH64_negate_ra_state: signed or not, the bits are stripped */
			break;
		case 0x2e: /* DW_CFA_GNU_args_size */
			take_uleb(&c);
			break;
		case 0x2f: /* DW_CFA_GNU_negative_offset_extended */
			reg = take_uleb(&c);
			set(m, reg, AT_OFFSET, scaled(m, (int64_t)(0 - take_uleb(&c))), NULL);
			break;
		default:
			return false;
		}
	}
	return !c.failed;
}

/* -- expressions ------------------------------------------------------------------------------- */

/* A value as far as it is known before sp and fp are: number, or register + number, or the word at
 * register + inner, plus number. */
struct value {
	enum { NUMBER, REGISTER, WORD } kind;
	uint8_t base; /* enum leakwrap_rule_base */
	int64_t inner;
	int64_t number;
};

#define VALUES_MAX 16

struct values {
	struct value value[VALUES_MAX];
	unsigned count;
	bool failed;
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

/* The operators on two operands, DWARF 5, section 2.5.1.4 and 2.5.1.5. */
static void combine(struct values *values, uint8_t operator)
{
	struct value b = pop(values), a = pop(values);
	uint64_t x = (uint64_t)a.number, y = (uint64_t)b.number;

	if (operator== 0x22 && a.kind == NUMBER) { /* DW_OP_plus: the number second */
		struct value swap = a;

		a = b;
		b = swap;
	}
	if (b.kind != NUMBER || (a.kind != NUMBER && operator!= 0x22 && operator!= 0x1c)) {
		values->failed = true;
		return;
	}
	switch (operator) {
	case 0x1a: /* DW_OP_and */
		x &= y;
		break;
	case 0x1c: /* DW_OP_minus */
		x -= y;
		break;
	case 0x1e: /* DW_OP_mul */
		x *= y;
		break;
	case 0x21: /* DW_OP_or */
		x |= y;
		break;
	case 0x22: /* DW_OP_plus */
		x += y;
		break;
	case 0x24: /* DW_OP_shl */
		x = y < 64 ? x << y : 0;
		break;
	case 0x25: /* DW_OP_shr */
		x = y < 64 ? x >> y : 0;
		break;
	case 0x27: /* DW_OP_xor */
		x ^= y;
		break;
	case 0x29: /* DW_OP_eq, ge, gt, le, lt, ne */
		x = x == y;
		break;
	case 0x2a:
		x = (int64_t)x >= (int64_t)y;
		break;
	case 0x2b:
		x = (int64_t)x > (int64_t)y;
		break;
	case 0x2c:
		x = (int64_t)x <= (int64_t)y;
		break;
	case 0x2d:
		x = (int64_t)x < (int64_t)y;
		break;
	case 0x2e:
		x = x != y;
		break;
	default:
		values->failed = true;
	}
	a.number = (int64_t)x;
	push(values, a);
}

/* What EXPRESSION yields for the code at PC, as far as it can be said now.  DWARF 5, section 2.5.1: the
 * operations that compilers, assemblers and linkers write for frames. */
static bool evaluate(const uint8_t *expression, const uint8_t *high, uint64_t ra_register, uintptr_t pc,
                     struct value *result)
{
	struct cursor c = {expression, high, false};
	struct values values = {.count = 0};
	uint64_t length = take_uleb(&c);

	if (length > (size_t)(c.end - c.at))
		return false;
	c.end = c.at + length;
	while (c.at < c.end && !values.failed) {
		uint8_t op = (uint8_t)take(&c, 1);
		struct value v;

		switch (op) {
		case 0x06: /* DW_OP_deref */
			v = pop(&values);
			if (v.kind != REGISTER)
				return false;
			push(&values, (struct value){WORD, v.base, v.number, 0});
			break;
		case 0x08: /* DW_OP_const1u ... const8s */
			push_number(&values, (int64_t)take(&c, 1));
			break;
		case 0x09:
			push_number(&values, (int8_t)take(&c, 1));
			break;
		case 0x0a:
			push_number(&values, (int64_t)take(&c, 2));
			break;
		case 0x0b:
			push_number(&values, (int16_t)take(&c, 2));
			break;
		case 0x0c:
			push_number(&values, (int64_t)take(&c, 4));
			break;
		case 0x0d:
			push_number(&values, (int32_t)take(&c, 4));
			break;
		case 0x0e:
		case 0x0f:
			push_number(&values, (int64_t)take(&c, 8));
			break;
		case 0x10: /* DW_OP_constu */
			push_number(&values, (int64_t)take_uleb(&c));
			break;
		case 0x11: /* DW_OP_consts */
			push_number(&values, take_sleb(&c));
			break;
		case 0x12: /* DW_OP_dup */
			v = pop(&values);
			push(&values, v);
			push(&values, v);
			break;
		case 0x13: /* DW_OP_drop */
			pop(&values);
			break;
		case 0x23: /* DW_OP_plus_uconst */
			push_number(&values, (int64_t)take_uleb(&c));
			combine(&values, 0x22);
			break;
		case 0x92: { /* DW_OP_bregx */
			uint64_t reg = take_uleb(&c);

			push_register(&values, reg, take_sleb(&c), ra_register, pc);
			break;
		}
		case 0x96: /* DW_OP_nop */
			break;
		default:
			if (op >= 0x30 && op <= 0x4f) /* DW_OP_lit0 ... lit31 */
				push_number(&values, op - 0x30);
			else if (op >= 0x70 && op <= 0x8f) /* DW_OP_breg0 ... breg31 */
				push_register(&values, op - 0x70u, take_sleb(&c), ra_register, pc);
			else
				combine(&values, op);
		}
	}
	*result = pop(&values);
	return !values.failed && !c.failed;
}

/* -- from the row to the rule ------------------------------------------------------------------ */

static bool fits(int64_t offset, int32_t *to)
{
	*to = (int32_t)offset;
	return *to == offset;
}

/* Where the caller's register was saved, in terms of RULE's base and CFA. */
static bool place(const struct saved *saved, const uint8_t *high, uint64_t ra_register, uintptr_t pc,
                  uint8_t base, uint8_t *where, int32_t *offset)
{
	struct value address;

	*offset = 0;
	switch (saved->how) {
	case SAME:
		*where = LEAKWRAP_SAVED_IN_REGISTER;
		return true;
	case AT_OFFSET:
		*where = LEAKWRAP_SAVED_AT_CFA;
		return fits(saved->offset, offset);
	case AT_ADDRESS:
		*where = LEAKWRAP_SAVED_AT_BASE;
		return evaluate(saved->expression, high, ra_register, pc, &address) &&
		       address.kind == REGISTER && address.base == base && fits(address.number, offset);
	default:
		*where = LEAKWRAP_SAVED_NOWHERE;
		return true;
	}
}

static bool rule_of(const struct row *row, const uint8_t *high, uint64_t ra_register, uintptr_t pc,
                    struct leakwrap_rule *rule)
{
	struct value cfa;

	if (row->ra.how == UNDEFINED) {
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
		if (!fits(cfa.number, &rule->cfa))
			return false;
	} else if (cfa.kind == WORD) {
		rule->kind = LEAKWRAP_RULE_INDIRECT;
		if (!fits(cfa.inner, &rule->cfa) || !fits(cfa.number, &rule->add))
			return false;
	} else {
		return false;
	}
	return place(&row->ra, high, ra_register, pc, rule->base, &rule->ra_place, &rule->ra) &&
	       rule->ra_place != LEAKWRAP_SAVED_NOWHERE &&
	       place(&row->fp, high, ra_register, pc, rule->base, &rule->fp_place, &rule->fp);
}

/* C libraries describe the frame that the kernel builds for a signal handler by expressions. */
static bool make_signal_rule(struct leakwrap_rule *rule)
{
	if (rule->kind != LEAKWRAP_RULE_INDIRECT || rule->base != LEAKWRAP_BASE_SP || rule->add != 0 ||
	    rule->ra_place != LEAKWRAP_SAVED_AT_BASE || rule->fp_place != LEAKWRAP_SAVED_AT_BASE)
		return false;
	rule->kind = LEAKWRAP_RULE_SIGNAL;
	return true;
}

bool leakwrap_cfi_rule(const struct leakwrap_cfi *tables, uintptr_t pc, bool interrupted,
                       struct leakwrap_rule *rule)
{
	/* A return address may be that of the next function, when the call never returns. */
	uintptr_t code = interrupted ? pc : pc - 1;
	struct cursor fde = entry_at(tables, search(tables, code));
	uintptr_t back_from = (uintptr_t)fde.at;
	uint64_t back = take(&fde, 4);
	uintptr_t start, size;
	struct cie cie;
	struct machine m;

	memset(rule, 0, sizeof(*rule));
	if (fde.failed || back == 0 || !read_cie(tables, back_from - (uintptr_t)back, &cie))
		return false;
	start = take_pointer(&fde, cie.encoding, 0);
	size = take_format(&fde, cie.encoding & PE_FORMAT);
	if (cie.augmented)
		skip(&fde, take_uleb(&fde));
	if (fde.failed || code - start >= size)
		return false;

	memset(&m, 0, sizeof(m));
	m.cie = &cie;
	m.location = 0;
	m.target = UINTPTR_MAX; /* all of the CIE's program */
	if (!run(&m, cie.program))
		return false;
	m.initial = m.row;
	m.location = start;
	m.target = code;
	if (!run(&m, fde) || !rule_of(&m.row, tables->high, cie.ra_register, pc, rule))
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
