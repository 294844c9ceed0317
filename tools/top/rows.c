/* rows.c - the rows, see top.h. */
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/numbers.h"
#include "tools/base/table.h"
#include "tools/top/top.h"

#include <stdlib.h>
#include <string.h>

#include "tools/model/kinds.h"

bool is_shown(const struct top *top, const struct target *target)
{
	return !target->ended && watch_last(target) && (!top->only || top->only == target->pid);
}

static const char *name_of_stack(struct top *top, const struct stack *stack)
{
	struct arena scratch = {0};
	const char *name = "(no stack)";
	unsigned count = 0;
	for (unsigned i = 0; i < stack->depth; i++) {
		const struct location *at = stack->at[i];
		if (stack->asked >= count + at->frame_count) {
			count += at->frame_count;
			continue;
		}
		const struct frame *frame = &at->frames[stack->asked - count];
		const char *place = frame_place(&scratch, at, frame);
		name = frame->function
		               ? arena_format(&scratch, "%s  %s", frame->function, base_name(place))
		               : place;
		break;
	}
	name = intern_text(&top->strings, name);
	arena_free(&scratch);
	return name;
}

static bool is_row_of(const void *key, const void *entry)
{
	const struct row *row = entry;
	return row->key == key;
}

static struct row *row_of(struct top *top, const struct site *site)
{
	static const enum group_kind kinds[VIEWS] = {GROUP_NONE, GROUP_FUNCTION, GROUP_FILE,
	                                             GROUP_MODULE, GROUP_NONE};
	const struct stack *stack = top->view == VIEW_SITES ? site->stack : NULL;
	const void *key = stack;
	if (top->view == VIEW_TASKS)
		key = intern_text(&top->strings, site->task ? site->task : "(not known)");
	else if (!stack)
		key = intern_text(&top->strings, group_of_stack(site->stack, kinds[top->view]));
	uint64_t hash = hash_word(0, (uintptr_t)key);
	struct row *row = table_find(&top->by_key, hash, key, is_row_of);
	if (row)
		return row;
	row = arena_alloc(&top->row_memory, sizeof *row);
	*row = (struct row){
	        .key = key, .stack = stack, .name = stack ? name_of_stack(top, stack) : key};
	table_add(&top->by_key, hash, row);
	GROW(top->rows, top->row_room, top->row_count + 1);
	top->rows[top->row_count++] = row;
	return row;
}

void update_rows(struct top *top)
{
	double now = watch_now(), passed = top->updated > 0 ? now - top->updated : 0;

	for (size_t i = 0; i < top->row_count; i++) {
		struct row *row = top->rows[i];
		memmove(row->before + 1, row->before, (CHART - 1) * sizeof *row->before);
		row->before[0] = row->bytes;
		row->known += row->known < CHART;
		row->bytes = row->blocks = 0;
		row->reach = (struct reach_sums){0};
	}
	top->has_kinds = false;
	for (size_t i = 0; i < top->watch.target_count; i++) {
		const struct target *target = top->watch.targets[i];
		const struct dump *dump = is_shown(top, target) ? watch_last(target) : NULL;
		top->has_kinds |= dump && dump->totals.reach.is_known;
		for (size_t j = 0; dump && j < dump->site_count; j++) {
			struct row *row = row_of(top, &dump->sites[j]);
			add_up(&row->bytes, dump->sites[j].bytes);
			add_up(&row->blocks, dump->sites[j].blocks);
			add_reach(&row->reach, &dump->sites[j].reach);
		}
	}
	for (size_t i = 0; passed > 0 && i < top->row_count; i++)
		top->rows[i]->growth =
		        ((double)top->rows[i]->bytes - (double)top->rows[i]->before[0]) / passed;
	top->updated = now;
	top->is_stale = true;
}

void forget_rows(struct top *top)
{
	table_free(&top->by_key);
	arena_reset(&top->row_memory);
	top->row_count = top->selected = top->first = 0;
	top->updated = 0;
	top->has_baseline = top->expanded = false;
	update_rows(top);
}

static enum order sort_order; /* for compare_rows */

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;
	int first = sort_order == ORDER_LOST ? compare_lost(&a->reach, &b->reach) : 0;
	if (first)
		return first;
	if (sort_order == ORDER_GROWTH && a->growth != b->growth)
		return a->growth > b->growth ? -1 : 1;
	if (sort_order == ORDER_BLOCKS && a->blocks != b->blocks)
		return a->blocks > b->blocks ? -1 : 1;
	if (sort_order != ORDER_NAME && a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return strcmp(a->name, b->name);
}

void choose_rows(struct top *top)
{
	top->is_stale = false;
	top->shown_count = 0;
	for (size_t i = 0; i < top->row_count; i++) {
		struct row *row = top->rows[i];
		if ((row->bytes == 0 && row->blocks == 0) ||
		    (top->has_baseline && row->bytes <= row->baseline) ||
		    (*top->filter && !strcasestr(row->name, top->filter)))
			continue;
		GROW(top->shown, top->shown_room, top->shown_count + 1);
		top->shown[top->shown_count++] = row;
	}
	sort_order = top->order;
	if (top->shown_count)
		qsort(top->shown, top->shown_count, sizeof *top->shown, compare_rows);
}

void free_rows(struct top *top)
{
	free(top->rows);
	table_free(&top->by_key);
	arena_free(&top->row_memory);
	free(top->shown);
	table_free(&top->strings.table);
	arena_free(&top->names);
}
