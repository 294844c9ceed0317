/* table_rule.c - see table_rule.h. */
#include "wrap/unwind/table_rule.h"

#include "wrap/arch/arch.h"
#include "wrap/unwind/arm_exidx.h"
#include "wrap/unwind/eh_frame.h"

#if LEAKWRAP_HAVE_RULES

#if LEAKWRAP_HAVE_ARM_FRAMES

/* Translates OFFSET, of struct leakwrap_exidx_frame, into *WHERE and *TO of a rule. */
static void set_saved(int32_t offset, uint8_t *where, int32_t *to)
{
	*where =
	        offset == LEAKWRAP_EXIDX_SAME ? LEAKWRAP_SAVED_IN_REGISTER : LEAKWRAP_SAVED_AT_BASE;
	*to = offset == LEAKWRAP_EXIDX_SAME ? 0 : offset;
}

bool leakwrap_find_table_rule(const struct leakwrap_module *module, uintptr_t pc, bool interrupted,
                              struct leakwrap_rule *rule)
{
	static const uint8_t bases[] = {
	        [LEAKWRAP_EXIDX_SP] = LEAKWRAP_BASE_SP,
	        [LEAKWRAP_EXIDX_R7] = LEAKWRAP_BASE_R7,
	        [LEAKWRAP_EXIDX_R11] = LEAKWRAP_BASE_FP,
	};
	struct leakwrap_exidx tables = {
	        .index = module->exidx,
	        .index_size = module->exidx_size,
	        .low = (const uint8_t *)module->tables_start,
	        .high = (const uint8_t *)module->tables_end,
	};
	struct leakwrap_exidx_frame frame;
	uint8_t r7_where;

	/* The table is made for calls.  Where a signal interrupts the first or last instructions of
	 * a function, the table is wrong. */
	if (!tables.index || !leakwrap_exidx_find(&tables, interrupted ? pc : pc - 1, &frame))
		return false;
	rule->kind = frame.sp_loaded ? LEAKWRAP_RULE_INDIRECT : LEAKWRAP_RULE_FRAME;
	rule->base = bases[frame.base];
	rule->cfa_offset = frame.sp;
	set_saved(frame.pc, &rule->ra_where, &rule->ra_offset);
	set_saved(frame.r11, &rule->fp_where, &rule->fp_offset);
	set_saved(frame.r7, &r7_where, &rule->r7_offset);
	rule->r7_where = r7_where;
	return true;
}

#else

bool leakwrap_find_table_rule(const struct leakwrap_module *module, uintptr_t pc, bool interrupted,
                              struct leakwrap_rule *rule)
{
	struct leakwrap_cfi tables = {
	        .header = module->eh_frame_hdr,
	        .header_size = module->eh_frame_hdr_size,
	        .low = (const uint8_t *)module->tables_start,
	        .high = (const uint8_t *)module->tables_end,
	};

	return tables.header && leakwrap_find_eh_frame_rule(&tables, pc, interrupted, rule);
}

#endif

#endif
