/* ended_stacks.c - see ended_stacks.h. */
#include "tools/image/ended_stacks.h"

#include "tools/image/memory.h"
#include "wrap/rules/stack_remains.h"

/* The context of a search. */
struct ended_search {
	const struct image *image;
	void (*visit)(void *context, uint64_t start, uint64_t end);
	void *context;
};

static bool is_used(const void *context, uint64_t start, uint64_t end)
{
	const struct image *image = ((const struct ended_search *)context)->image;

	for (size_t i = 0; i < image->thread_count; i++) {
		const struct image_thread *thread = &image->threads[i];
		if (thread->thread_pointer == 0 || (thread->sp >= start && thread->sp < end) ||
		    (thread->thread_pointer >= start && thread->thread_pointer < end))
			return true;
	}
	return false;
}

static void visit(const void *context, uint64_t start, uint64_t end)
{
	const struct ended_search *search = context;

	search->visit(search->context, start, end);
}

/* Returns where the description of a thread has the thread's id, or 0 if that is not known. */
static uint64_t find_id(const struct leakwrap_remains_search *search, const struct image *image)
{
	uint64_t below = 0;

	for (size_t i = 0; i < image->thread_count && below == 0; i++) {
		const struct image_thread *thread = &image->threads[i];
		const struct leakwrap_thread_description own =
		        leakwrap_thread_describe(search, thread->thread_pointer);
		if (thread->thread_pointer != 0)
			below = leakwrap_thread_find_id(search, &own, (uint32_t)thread->id);
	}
	return below;
}

/* The smallest page of any machine. */
enum { PAGE = 4096 };

void ended_stacks_each(const struct image *image, const struct block_list *list,
                       void (*visitor)(void *context, uint64_t start, uint64_t end), void *context)
{
	const struct ended_search own = {image, visitor, context};
	const struct image_process process = {.image = image};
	struct leakwrap_remains_search search = {
	        .memory = image_memory(&process, list->is_glibc),
	        .is_used = is_used,
	        .visit = visit,
	        .context = &own,
	        .page_size = PAGE,
	        .thread_pointer = list->stack_layout.thread_pointer,
	        .bounds = list->stack_layout.bounds,
	        .size = list->stack_layout.size,
	        .below_pointer = image_describes_below(image) ? IMAGE_DESCRIPTION : 0,
	};

	if (search.bounds == 0)
		return;
	search.id_below_bounds = find_id(&search, image);
	for (size_t i = 1; i < image->part_count; i++) {
		const struct image_part *part = &image->parts[i], *guard = part - 1;
		/* gdb calls the guard readable, though it is not. */
		const bool has_guard =
		        guard->end == part->start && !guard->is_writable && !guard->is_code;
		const struct leakwrap_remains_mapping mapping = {
		        part->start, part->end, has_guard ? guard->start : part->start};

		if (part->is_readable && part->is_writable && !part->is_code)
			leakwrap_visit_stacks(&search, &mapping);
	}
}
