/* go_rule.c - see go_rule.h. */
#include "wrap/unwind/go_rule.h"

#if LEAKWRAP_HAVE_GO_STACKS

#include "wrap/base/common.h"
#include "wrap/port/port.h"
#include "wrap/unwind/go_table.h"
#include "wrap/unwind/return_address.h"

#include <stdatomic.h>
#include <string.h>

/* How many tables are remembered.  Each module of Go code has its own table: the program, plugins,
 * and libraries for C.  A table that is no longer remembered is looked for again. */
#define TABLES_MAX 32u

/* The addresses of the tables that were found last, or 0, and how many were found. */
static _Atomic uintptr_t table_at[TABLES_MAX];
static _Atomic unsigned tables_found;
/* The serial numbers of modules that have no table, or 0. */
static _Atomic uint64_t modules_without[TABLES_MAX];

/* Opens the table at AT in SEGMENT.  Returns false if no table of MODULE's code is there. */
static bool open_table(const struct leakwrap_module *module, const struct leakwrap_segment *segment,
                       uintptr_t at, struct leakwrap_go_table *table)
{
	return leakwrap_open_go_table((const uint8_t *)at, (const uint8_t *)segment->end, table) &&
	       leakwrap_module_text(module, table->text) != NULL;
}

/* Opens the table of MODULE at AT.  Returns false if AT is not in MODULE. */
static bool open_table_at(const struct leakwrap_module *module, uintptr_t at,
                          struct leakwrap_go_table *table)
{
	for (unsigned i = 0; i < LEAKWRAP_SEGMENTS_MAX; i++) {
		const struct leakwrap_segment *segment = &module->segment[i];

		if (at - segment->start < segment->end - segment->start)
			return open_table(module, segment, at, table);
	}
	return false;
}

/* Opens the table of MODULE.  Returns false if it has not been found. */
static bool open_known_table(const struct leakwrap_module *module, struct leakwrap_go_table *table)
{
	for (unsigned i = 0; i < TABLES_MAX; i++) {
		const uintptr_t at = atomic_load_explicit(&table_at[i], memory_order_relaxed);

		if (at != 0 && open_table_at(module, at, table))
			return true;
	}
	return false;
}

/* Notes that a table is at AT. */
static void remember_table(uintptr_t at)
{
	const unsigned number = atomic_fetch_add_explicit(&tables_found, 1, memory_order_relaxed);

	atomic_store_explicit(&table_at[number % TABLES_MAX], at, memory_order_relaxed);
}

/* Looks for the table in SEGMENT, page by page: the program may have unmapped some. */
static bool find_table_in(const struct leakwrap_module *module,
                          const struct leakwrap_segment *segment, struct leakwrap_go_table *table)
{
	const uintptr_t step = LEAKWRAP_GO_TABLE_ALIGNMENT;

	for (uintptr_t at = (segment->start + step - 1) / step * step; at < segment->end;) {
		const uintptr_t end = (at / LEAKWRAP_PAGE + 1) * LEAKWRAP_PAGE;

		if (!leakwrap_readable(at)) {
			at = end;
			continue;
		}
		for (; at < end && at < segment->end; at += step)
			if (open_table(module, segment, at, table)) {
				remember_table(at);
				return true;
			}
	}
	return false;
}

/* Returns whether SEGMENT of MODULE can be read. */
static bool is_readable(const struct leakwrap_module *module,
                        const struct leakwrap_segment *segment)
{
	const struct leakwrap_text *text = leakwrap_module_text(module, segment->start);

	return segment->end != 0 && !(text && text->is_only_executed);
}

/* Looks for the table in MODULE, which calls C as Go's runtime does.  Reads all its constants, and
 * then its variables: a position-independent program has the table there. */
static __attribute__((noinline)) bool find_table(const struct leakwrap_module *module,
                                                 struct leakwrap_go_table *table)
{
	_Atomic uint64_t *const without = &modules_without[module->serial % TABLES_MAX];

	if (atomic_load_explicit(without, memory_order_relaxed) == module->serial)
		return false;
	for (unsigned writable = 0; writable <= 1; writable++)
		for (unsigned i = 0; i < LEAKWRAP_SEGMENTS_MAX; i++) {
			const struct leakwrap_segment *segment = &module->segment[i];

			if (segment->is_writable == writable && is_readable(module, segment) &&
			    find_table_in(module, segment, table))
				return true;
		}
	atomic_store_explicit(without, module->serial, memory_order_relaxed);
	return false;
}

/* Sets *RULE to that of a frame of SIZE bytes.  Go's compiler and assembler store the frame pointer
 * next to the return address. */
static bool set_frame(struct leakwrap_rule *rule, int32_t size, bool interrupted)
{
	memset(rule, 0, sizeof(*rule));
	rule->kind = LEAKWRAP_RULE_FRAME;
	rule->base = LEAKWRAP_BASE_SP;
#if LEAKWRAP_CALL_PUSHES
	(void)interrupted;
	rule->cfa_offset = size + LEAKWRAP_WORD;
	rule->ra_where = LEAKWRAP_SAVED_AT_CFA;
	rule->ra_offset = -LEAKWRAP_WORD;
	if (size > 0) {
		rule->fp_where = LEAKWRAP_SAVED_AT_CFA;
		rule->fp_offset = -2 * LEAKWRAP_WORD;
	}
#else
	rule->cfa_offset = size;
	if (size > 0) {
		rule->ra_where = rule->fp_where = LEAKWRAP_SAVED_AT_BASE;
		rule->fp_offset = -LEAKWRAP_WORD;
	} else if (!interrupted) {
		return false;
	}
#endif
	return true;
}

/* Sets *RULE to that of CALL. */
static void set_call(struct leakwrap_rule *rule, const struct leakwrap_go_call *call)
{
	memset(rule, 0, sizeof(*rule));
	rule->base = LEAKWRAP_BASE_SP;
	rule->kind = call->changes_stack ? LEAKWRAP_RULE_GOROUTINE : LEAKWRAP_RULE_INDIRECT;
	rule->cfa_offset = call->changes_stack ? call->goroutine : call->distance;
	rule->add = call->changes_stack ? call->distance : LEAKWRAP_GO_RETURN_SIZE;
	rule->ra_where = LEAKWRAP_SAVED_AT_CFA;
	rule->ra_offset = -LEAKWRAP_GO_RETURN_SIZE;
#if !LEAKWRAP_CALL_PUSHES
	rule->fp_where = LEAKWRAP_SAVED_AT_CFA;
	rule->fp_offset = -LEAKWRAP_GO_RETURN_SIZE - LEAKWRAP_WORD;
#endif
}

bool leakwrap_find_go_rule(const struct leakwrap_module *module, uintptr_t pc, bool interrupted,
                           struct leakwrap_rule *rule)
{
	const struct leakwrap_code code = leakwrap_code_of(module, pc);
	struct leakwrap_go_table table;
	struct leakwrap_go_frame frame;
	struct leakwrap_go_call call = {0};
	const bool is_call = !interrupted && leakwrap_read_go_call(&code, pc, &call);

	if (!open_known_table(module, &table) && !(is_call && find_table(module, &table)))
		return false;
	if (!leakwrap_find_go_frame(&table, interrupted ? pc : pc - 1, &frame))
		return false;
	if (frame.is_first) {
		memset(rule, 0, sizeof(*rule));
		rule->kind = LEAKWRAP_RULE_END;
		return true;
	}
	if (!frame.changes_sp)
		return set_frame(rule, (int32_t)frame.size, interrupted);
	if (is_call)
		set_call(rule, &call);
	else
		memset(rule, 0, sizeof(*rule));
	return true;
}

#endif
