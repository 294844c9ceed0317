/* dwarf_expr.c - see dwarf_expr.h. */
#include "wrap/unwind/dwarf_expr.h"

#include "wrap/arch/arch.h"
#include "wrap/unwind/dwarf_reader.h"
#include "wrap/unwind/rule_cache.h"

#ifdef LEAKWRAP_DWARF_SP

/* The stack of an expression. */
#define VALUES_MAX 16

struct values {
	struct leakwrap_value value[VALUES_MAX];
	unsigned count;
	bool has_failed; /* too many values, too few, or a value that cannot be expressed */
};

static void push(struct values *values, struct leakwrap_value value)
{
	if (values->count == VALUES_MAX)
		values->has_failed = true;
	else
		values->value[values->count++] = value;
}

static void push_number(struct values *values, int64_t number)
{
	push(values, (struct leakwrap_value){LEAKWRAP_VALUE_NUMBER, 0, 0, number});
}

static struct leakwrap_value pop(struct values *values)
{
	if (values->count == 0) {
		values->has_failed = true;
		return (struct leakwrap_value){LEAKWRAP_VALUE_NUMBER, 0, 0, 0};
	}
	return values->value[--values->count];
}

bool leakwrap_register_value(const struct leakwrap_expression_context *context, uint64_t reg,
                             int64_t offset, struct leakwrap_value *value)
{
	if (reg == LEAKWRAP_DWARF_SP)
		*value = (struct leakwrap_value){LEAKWRAP_VALUE_REGISTER, LEAKWRAP_BASE_SP, 0,
		                                 offset};
	else if (reg == LEAKWRAP_DWARF_FP)
		*value = (struct leakwrap_value){LEAKWRAP_VALUE_REGISTER, LEAKWRAP_BASE_FP, 0,
		                                 offset};
	else if (reg == context->ra_register)
		*value = (struct leakwrap_value){LEAKWRAP_VALUE_NUMBER, 0, 0,
		                                 (int64_t)(context->pc + (uint64_t)offset)};
	else
		return false;
	return true;
}

/* Pushes the value of register REG plus OFFSET. */
static void push_register(struct values *values, const struct leakwrap_expression_context *context,
                          uint64_t reg, int64_t offset)
{
	struct leakwrap_value value;

	if (leakwrap_register_value(context, reg, offset, &value))
		push(values, value);
	else
		values->has_failed = true;
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

/* Stores the result of the operation OP with the operands X and Y in *RESULT (DWARF 5, sections
 * 2.5.1.4 and 2.5.1.5).  Returns false if OP is unknown. */
static bool compute(uint8_t op, uint64_t x, uint64_t y, uint64_t *result)
{
	switch (op) {
	case DW_OP_and:
		*result = x & y;
		return true;
	case DW_OP_minus:
		*result = x - y;
		return true;
	case DW_OP_mul:
		*result = x * y;
		return true;
	case DW_OP_or:
		*result = x | y;
		return true;
	case DW_OP_plus:
		*result = x + y;
		return true;
	case DW_OP_shl:
		*result = y < 64 ? x << y : 0;
		return true;
	case DW_OP_shr:
		*result = y < 64 ? x >> y : 0;
		return true;
	case DW_OP_xor:
		*result = x ^ y;
		return true;
	case DW_OP_eq:
		*result = x == y;
		return true;
	case DW_OP_ge:
		*result = (int64_t)x >= (int64_t)y;
		return true;
	case DW_OP_gt:
		*result = (int64_t)x > (int64_t)y;
		return true;
	case DW_OP_le:
		*result = (int64_t)x <= (int64_t)y;
		return true;
	case DW_OP_lt:
		*result = (int64_t)x < (int64_t)y;
		return true;
	case DW_OP_ne:
		*result = x != y;
		return true;
	default:
		return false;
	}
}

/* Replaces the two values on top of the stack by the result of the operation OP. */
static void apply_binary(struct values *values, uint8_t op)
{
	struct leakwrap_value b = pop(values), a = pop(values);
	uint64_t result;

	if (op == DW_OP_plus && a.kind == LEAKWRAP_VALUE_NUMBER) {
		struct leakwrap_value number = a; /* becomes the second operand */

		a = b;
		b = number;
	}
	if (b.kind != LEAKWRAP_VALUE_NUMBER ||
	    (a.kind != LEAKWRAP_VALUE_NUMBER && op != DW_OP_plus && op != DW_OP_minus) ||
	    !compute(op, (uint64_t)a.number, (uint64_t)b.number, &result)) {
		values->has_failed = true;
		return;
	}
	a.number = (int64_t)result;
	push(values, a);
}

/* Runs the operation OP if it pushes a constant.  Returns false if OP is another operation. */
static bool push_constant(struct values *values, uint8_t op, struct leakwrap_cursor *c)
{
	switch (op) {
	case DW_OP_const1u:
		push_number(values, (int64_t)leakwrap_read_uint(c, 1));
		return true;
	case DW_OP_const1s:
		push_number(values, (int8_t)leakwrap_read_uint(c, 1));
		return true;
	case DW_OP_const2u:
		push_number(values, (int64_t)leakwrap_read_uint(c, 2));
		return true;
	case DW_OP_const2s:
		push_number(values, (int16_t)leakwrap_read_uint(c, 2));
		return true;
	case DW_OP_const4u:
		push_number(values, (int64_t)leakwrap_read_uint(c, 4));
		return true;
	case DW_OP_const4s:
		push_number(values, (int32_t)leakwrap_read_uint(c, 4));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push_number(values, (int64_t)leakwrap_read_uint(c, 8));
		return true;
	case DW_OP_constu:
		push_number(values, (int64_t)leakwrap_read_uleb128(c));
		return true;
	case DW_OP_consts:
		push_number(values, leakwrap_read_sleb128(c));
		return true;
	default:
		if (op < DW_OP_lit0 || op > DW_OP_lit31)
			return false;
		push_number(values, op - DW_OP_lit0);
		return true;
	}
}

/* Runs the operation OP, whose operands are at C. */
static void run_operation(struct values *values, const struct leakwrap_expression_context *context,
                          uint8_t op, struct leakwrap_cursor *c)
{
	struct leakwrap_value value;
	uint64_t reg;

	switch (op) {
	case DW_OP_deref:
		value = pop(values);
		if (value.kind != LEAKWRAP_VALUE_REGISTER)
			values->has_failed = true;
		push(values,
		     (struct leakwrap_value){LEAKWRAP_VALUE_WORD, value.base, value.number, 0});
		break;
	case DW_OP_dup:
		value = pop(values);
		push(values, value);
		push(values, value);
		break;
	case DW_OP_drop:
		pop(values);
		break;
	case DW_OP_plus_uconst:
		push_number(values, (int64_t)leakwrap_read_uleb128(c));
		apply_binary(values, DW_OP_plus);
		break;
	case DW_OP_bregx:
		reg = leakwrap_read_uleb128(c);
		push_register(values, context, reg, leakwrap_read_sleb128(c));
		break;
	case DW_OP_nop:
		break;
	default:
		if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
			push_register(values, context, op - (unsigned)DW_OP_breg0,
			              leakwrap_read_sleb128(c));
		else if (!push_constant(values, op, c))
			apply_binary(values, op);
	}
}

bool leakwrap_evaluate(const struct leakwrap_expression_context *context, const uint8_t *expression,
                       struct leakwrap_value *result)
{
	struct leakwrap_cursor c = {expression, context->high, false};
	struct values values = {.count = 0};
	uint64_t length = leakwrap_read_uleb128(&c);

	if (length > (size_t)(c.end - c.at))
		return false;
	c.end = c.at + length;
	while (c.at < c.end && !values.has_failed)
		run_operation(&values, context, (uint8_t)leakwrap_read_uint(&c, 1), &c);
	*result = pop(&values);
	return !values.has_failed && !c.has_failed;
}

#endif
