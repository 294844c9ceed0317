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

/* Returns the end of the stack of a thread that has ended, if such a stack begins PART, or 0.
 * GUARD: the part before it.  gdb calls it readable, though it is not. */
static uint64_t find_end(const struct image *image, const struct block_list *list,
                         const struct image_part *guard, const struct image_part *part)
{
	const uint64_t ends[] = {part->end, guard->start + list->stack_layout.size};

	if (!part->is_readable || !part->is_writable || part->is_code || guard->is_writable ||
	    guard->is_code || guard->end != part->start)
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		const uint64_t end = ends[i], bounds = end - list->stack_layout.bounds;
		if (end > part->end || end < part->start ||
		    end - part->start < list->stack_layout.bounds ||
		    end - part->start < list->stack_layout.thread_pointer)
			continue;
		const uint64_t start = image_word(image, bounds);
		if (start >= guard->start && start < part->start &&
		    image_word(image, bounds + image->word) == end - start)
			return has_thread(image, part) ? 0 : end;
	}
	return 0;
}

/* As in wrap/reach/ended_stacks.c. */
#define FUNCTION_BELOW_BOUNDS 32u

/* Visits each word that follows an address of code in the words below BOUNDS. */
static void each_argument(const struct image *image, uint64_t bounds,
                          void (*visit)(void *context, uint64_t start, uint64_t end), void *context)
{
	for (unsigned words = FUNCTION_BELOW_BOUNDS; words > 1; words--) {
		const uint64_t at = bounds - words * image->word;
		const struct image_part *part = image_part_at(image, image_word(image, at));

		if (part && part->is_code)
			visit(context, at + image->word, at + 2 * image->word);
	}
}

void ended_stacks_each(const struct image *image, const struct block_list *list,
                       void (*visit)(void *context, uint64_t start, uint64_t end), void *context)
{
	for (size_t i = 1; list->stack_layout.bounds != 0 && i < image->part_count; i++) {
		const struct image_part *part = &image->parts[i];
		const uint64_t end = find_end(image, list, part - 1, part);
		const uint64_t pointer = end - list->stack_layout.thread_pointer;

		if (end == 0)
			continue;
		if (image_describes_below(image)) {
			visit(context, part->start, pointer - IMAGE_DESCRIPTION);
			/* Two words of the C library, then thread-local storage. */
			visit(context, pointer + 2 * image->word, end);
		} else {
			visit(context, part->start, pointer);
		}
		each_argument(image, end - list->stack_layout.bounds, visit, context);
	}
}
