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

/* A thread as glibc describes it, as in wrap/reach/ended_stacks.c. */
struct description {
	uint64_t start, end; /* it lies between */
	uint64_t bounds;     /* of its stack */
};

static struct description describe(const struct image *image, const struct block_list *list,
                                   uint64_t thread_pointer)
{
	const uint64_t bounds =
	        thread_pointer + list->stack_layout.thread_pointer - list->stack_layout.bounds;

	return image_describes_below(image)
	               ? (struct description){thread_pointer - IMAGE_DESCRIPTION, thread_pointer,
	                                      bounds}
	               : (struct description){thread_pointer, bounds, bounds};
}

/* Returns the 32 bits at ADDRESS, or 0 if the image does not have them. */
static uint64_t half_at(const struct image *image, uint64_t address)
{
	const unsigned char *bytes;

	return image_bytes(image, address, &bytes) >= 4 ? image_load(bytes, 4) : 0;
}

/* Returns how far below its bounds the description of a thread has the thread's id, or 0 if that is
 * not known. */
static uint64_t find_id(const struct image *image, const struct block_list *list)
{
	for (size_t i = 0; i < image->thread_count; i++) {
		const struct image_thread *thread = &image->threads[i];
		const struct description own = describe(image, list, thread->thread_pointer);
		for (uint64_t at = own.start; thread->thread_pointer != 0 && at < own.bounds;
		     at += 4)
			if (half_at(image, at) == thread->id)
				return own.bounds - at;
	}
	return 0;
}

enum { FUNCTION_BELOW_BOUNDS = 32 };

#define ID_OF_JOINED UINT64_C(0xffffffff)

/* Visits, for each address of code in the words below the bounds of THREAD, the argument behind it,
 * and the result before it if nobody can take that any more.  ID_BELOW: as of find_id. */
static void each_past(const struct image *image, const struct description *thread,
                      uint64_t id_below, void (*visit)(void *context, uint64_t start, uint64_t end),
                      void *context)
{
	const uint64_t word = image->word;
	const uint64_t result_before = 8 + word, joiner_before = 8 + 2 * word;
	const bool is_joined =
	        id_below != 0 && half_at(image, thread->bounds - id_below) == ID_OF_JOINED;

	for (unsigned words = FUNCTION_BELOW_BOUNDS; words > 1; words--) {
		const uint64_t at = thread->bounds - words * word;
		const uint64_t joiner = image_word(image, at - joiner_before);

		if (!image_is_code(image, image_word(image, at)))
			continue;
		visit(context, at + word, at + 2 * word);
		if (is_joined || (joiner >= thread->start && joiner < thread->end))
			visit(context, at - result_before, at - result_before + word);
	}
}

void ended_stacks_each(const struct image *image, const struct block_list *list,
                       void (*visit)(void *context, uint64_t start, uint64_t end), void *context)
{
	const uint64_t id_below = list->stack_layout.bounds != 0 ? find_id(image, list) : 0;

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
		const struct description thread = describe(image, list, pointer);
		each_past(image, &thread, id_below, visit, context);
	}
}
