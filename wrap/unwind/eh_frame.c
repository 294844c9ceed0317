/* eh_frame.c - see eh_frame.h.
 *
 *   address ──► FDE and CIE (fde.h) ──► row (cfa_program.h) ──► rule
 *
 * A row that uses only sp, fp and constants becomes a rule.  For that, its expressions are
 * evaluated symbolically (dwarf_expr.h). */
#include "wrap/unwind/eh_frame.h"

#include "wrap/unwind/cfa_program.h"
#include "wrap/unwind/dwarf_expr.h"

#include <string.h>

#ifdef LEAKWRAP_DWARF_SP

/* Stores OFFSET in *TO.  Returns false if it does not fit. */
static bool to_int32(int64_t offset, int32_t *to)
{
	*to = (int32_t)offset;
	return *to == offset;
}

/* Translates SAVED into *WHERE (enum leakwrap_saved_where) and *OFFSET of a rule with BASE.
 * Returns false if such a rule cannot express it. */
static bool locate_saved(const struct leakwrap_saved_register *saved,
                         const struct leakwrap_expression_context *context, uint8_t base,
                         uint8_t *where, int32_t *offset)
{
	struct leakwrap_value address;

	*offset = 0;
	switch (saved->where) {
	case LEAKWRAP_ROW_IN_REGISTER:
		*where = LEAKWRAP_SAVED_IN_REGISTER;
		return true;
	case LEAKWRAP_ROW_AT_OFFSET:
		*where = LEAKWRAP_SAVED_AT_CFA;
		return to_int32(saved->offset, offset);
	case LEAKWRAP_ROW_AT_ADDRESS:
		*where = LEAKWRAP_SAVED_AT_BASE;
		return leakwrap_evaluate(context, saved->expression, &address) &&
		       address.kind == LEAKWRAP_VALUE_REGISTER && address.base == base &&
		       to_int32(address.number, offset);
	default:
		*where = LEAKWRAP_SAVED_NOWHERE;
		return true;
	}
}

/* Turns ROW into *RULE.  Returns false if a rule cannot express the row. */
static bool make_rule(const struct leakwrap_row *row,
                      const struct leakwrap_expression_context *context, struct leakwrap_rule *rule)
{
	struct leakwrap_value cfa;

	if (row->ra.where == LEAKWRAP_ROW_UNDEFINED) {
		rule->kind = LEAKWRAP_RULE_END;
		return true;
	}
	if (!(row->cfa_expression
	              ? leakwrap_evaluate(context, row->cfa_expression, &cfa)
	              : leakwrap_register_value(context, row->cfa_register, row->cfa_offset, &cfa)))
		return false;
	rule->base = cfa.base;
	if (cfa.kind == LEAKWRAP_VALUE_REGISTER) {
		rule->kind = LEAKWRAP_RULE_FRAME;
		if (!to_int32(cfa.number, &rule->cfa_offset))
			return false;
	} else if (cfa.kind == LEAKWRAP_VALUE_WORD) {
		rule->kind = LEAKWRAP_RULE_INDIRECT;
		if (!to_int32(cfa.inner, &rule->cfa_offset) || !to_int32(cfa.number, &rule->add))
			return false;
	} else {
		return false;
	}
	return locate_saved(&row->ra, context, rule->base, &rule->ra_where, &rule->ra_offset) &&
	       rule->ra_where != LEAKWRAP_SAVED_NOWHERE &&
	       locate_saved(&row->fp, context, rule->base, &rule->fp_where, &rule->fp_offset);
}

/* Sets the kind of RULE, whose function is marked as a signal frame.  C libraries describe the
 * frame that the kernel builds for a signal handler by expressions alone.  OCaml 5 marks the
 * functions that change between its stacks and those of C.  Of these only the CFA is an expression
 * (runtime/amd64.S, caml_c_call and caml_start_program).  Returns false if RULE is neither. */
static bool make_signal_rule(struct leakwrap_rule *rule)
{
	if (rule->kind != LEAKWRAP_RULE_INDIRECT || rule->base != LEAKWRAP_BASE_SP)
		return false;
	if (rule->ra_where == LEAKWRAP_SAVED_AT_CFA && rule->fp_where != LEAKWRAP_SAVED_AT_BASE) {
		rule->kind = LEAKWRAP_RULE_SWITCH;
		return true;
	}
	if (rule->add != 0 || rule->ra_where != LEAKWRAP_SAVED_AT_BASE ||
	    rule->fp_where != LEAKWRAP_SAVED_AT_BASE)
		return false;
	rule->kind = LEAKWRAP_RULE_SIGNAL;
	return true;
}

bool leakwrap_find_eh_frame_rule(const struct leakwrap_cfi *tables, uintptr_t pc, bool interrupted,
                                 struct leakwrap_rule *rule)
{
	/* If the call never returns, the return address may lie in the next function. */
	const uintptr_t code = interrupted ? pc : pc - 1;
	struct leakwrap_expression_context context = {.high = tables->high, .pc = pc};
	struct leakwrap_fde fde;
	struct leakwrap_row row;

	memset(rule, 0, sizeof(*rule));
	if (!leakwrap_find_fde(tables, code, &fde) || !leakwrap_run_cfa_programs(&fde, code, &row))
		return false;
	context.ra_register = fde.cie.ra_register;
	return make_rule(&row, &context, rule) && (!fde.cie.signal_frame || make_signal_rule(rule));
}

#endif
