/* dwarf_expr.h - evaluates DWARF expressions (DWARF 5, section 2.5.1).
 *
 * Knows the operations that compilers, assemblers and linkers write for frames.  The registers are
 * not known yet when a rule is made, so the result is symbolic.  May run in signal handlers.
 */
#ifndef LEAKWRAP_DWARF_EXPR_H
#define LEAKWRAP_DWARF_EXPR_H

#include <stdbool.h>
#include <stdint.h>

/* A symbolic value: the values of sp and fp are not known yet. */
struct leakwrap_value {
	enum {
		LEAKWRAP_VALUE_NUMBER,   /* number */
		LEAKWRAP_VALUE_REGISTER, /* base + number */
		LEAKWRAP_VALUE_WORD      /* the word at base + inner, plus number */
	} kind;
	uint8_t base; /* enum leakwrap_rule_base */
	int64_t inner;
	int64_t number;
};

/* What an expression may refer to. */
struct leakwrap_expression_context {
	const uint8_t *high;  /* the end of the readable range */
	uint64_t ra_register; /* the column of the return address */
	uintptr_t pc;         /* the value of that column */
};

/* Stores the value of register REG plus OFFSET in *VALUE.  Returns false if *VALUE cannot express
 * that register. */
bool leakwrap_register_value(const struct leakwrap_expression_context *context, uint64_t reg,
                             int64_t offset, struct leakwrap_value *value);

/* Evaluates EXPRESSION, which begins with its length in ULEB128.  Stores its value in *RESULT.
 * Returns false if the expression is damaged, or if *RESULT cannot express its value. */
bool leakwrap_evaluate(const struct leakwrap_expression_context *context, const uint8_t *expression,
                       struct leakwrap_value *result);

#endif
