/* ended_stacks.c - see ended_stacks.h. */
#include "tools/image/ended_stacks.h"

/* Returns true if a thread that lives uses PART, or may do so. */
static bool has_thread(const struct image *image, const struct image_part *part)
{
	for (size_t i = 0; i < image->thread_count; i++) {
		const struct image_thread *thread = &image->threads[i];
		if (thread->thread_pointer == 0 || image_part_at(image, thread->sp) == part ||
		    image_part_at(image, thread->thread_pointer) == part)
			return true;
	}
	return false;
}

/* Returns true if PART holds the stack of a thread that has ended.  GUARD: the part before it.  gdb
 * calls it readable, though it is not. */
static bool is_ended_stack(const struct image *image, const struct block_list *list,
                           const struct image_part *guard, const struct image_part *part)
{
	const uint64_t bounds = part->end - list->stack_layout.bounds;

	if (!part->is_readable || !part->is_writable || part->is_code || guard->is_writable ||
	    guard->is_code || guard->end != part->start ||
	    list->stack_layout.bounds > part->end - part->start ||
	    list->stack_layout.thread_pointer > part->end - part->start)
		return false;
	const uint64_t start = image_word(image, bounds);
	return start >= guard->start && start < part->start &&
	       image_word(image, bounds + image->word) == part->end - start &&
	       !has_thread(image, part);
}

void ended_stacks_each(const struct image *image, const struct block_list *list,
                       void (*visit)(void *context, uint64_t start, uint64_t end), void *context)
{
	for (size_t i = 1; list->stack_layout.bounds != 0 && i < image->part_count; i++) {
		const struct image_part *part = &image->parts[i];
		const uint64_t pointer = part->end - list->stack_layout.thread_pointer;

		if (!is_ended_stack(image, list, part - 1, part))
			continue;
		if (image_describes_below(image)) {
			visit(context, part->start, pointer - IMAGE_DESCRIPTION);
			/* Two words of the C library, then thread-local storage. */
			visit(context, pointer + 2 * image->word, part->end);
		} else {
			visit(context, part->start, pointer);
		}
	}
}
