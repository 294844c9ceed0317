/* ended_stacks.c - see ended_stacks.h. */
#include "tools/image/ended_stacks.h"

/* A part that may hold stacks, and the guard below it, as in wrap/reach/ended_stacks.c. */
struct stack_area {
	const struct image *image;
	const struct block_list *list;
	const struct image_part *part;
	uint64_t low; /* where the guard begins */
};

/* Returns true if a thread that lives uses what lies from START to END, or may do so. */
static bool is_used(const struct stack_area *area, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < area->image->thread_count; i++) {
		const struct image_thread *thread = &area->image->threads[i];
		if (thread->thread_pointer == 0 || (thread->sp >= start && thread->sp < end) ||
		    (thread->thread_pointer >= start && thread->thread_pointer < end))
			return true;
	}
	return false;
}

enum { PAGE = 4096 };

/* Returns where the stack that ends at END begins with its guard, or 0 if no stack of a thread ends
 * there. */
static uint64_t find_start(const struct stack_area *area, uint64_t end)
{
	const uint64_t bounds = end - area->list->stack_layout.bounds, below = area->part->start;
	const uint64_t word = area->image->word;

	if (end > area->part->end || end < below || end - below < area->list->stack_layout.bounds ||
	    end - below < area->list->stack_layout.thread_pointer)
		return 0;
	const uint64_t start = image_word(area->image, bounds);
	if (start < area->low || start >= bounds ||
	    image_word(area->image, bounds + word) != end - start)
		return 0;
	const uint64_t guard = image_word(area->image, bounds + 2 * word);
	if (guard == 0) /* the program has mapped the stack */
		return 0;
	if (start < below)
		return start;
	return guard % PAGE == 0 && guard < end - start ? start : 0;
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
#define IS_FREED     0x20u

/* Returns whether the thread with its id at ID has been joined, or is detached and has ended. */
static bool is_freed(const struct image *image, uint64_t id)
{
	const uint64_t state_behind_id = 8 + (image->word == 8 ? 6 : 5) * image->word;

	return half_at(image, id) == ID_OF_JOINED ||
	       (half_at(image, id + state_behind_id) & IS_FREED) != 0;
}

/* Visits, for each address of code in the words below the bounds of THREAD, the argument behind it,
 * and the result before it if nobody can take that any more.  ID_BELOW: as of find_id. */
static void each_past(const struct image *image, const struct description *thread,
                      uint64_t id_below, void (*visit)(void *context, uint64_t start, uint64_t end),
                      void *context)
{
	const uint64_t word = image->word;
	const uint64_t result_before = 8 + word, joiner_before = 8 + 2 * word;
	const bool is_joined = id_below != 0 && is_freed(image, thread->bounds - id_below);

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

/* What is visited: ranges that ended threads have left. */
struct visitor {
	void (*visit)(void *context, uint64_t start, uint64_t end);
	void *context;
	uint64_t id_below; /* as of find_id */
};

/* Visits what is the past of the stack from START to END, unless a thread that lives uses it. */
static void visit_stack(const struct stack_area *area, uint64_t start, uint64_t end,
                        const struct visitor *visitor)
{
	const struct image *image = area->image;
	const uint64_t pointer = end - area->list->stack_layout.thread_pointer;
	const struct description thread = describe(image, area->list, pointer);

	if (start < area->part->start)
		start = area->part->start;
	if (is_used(area, start, end))
		return;
	if (image_describes_below(image)) {
		visitor->visit(visitor->context, start, pointer - IMAGE_DESCRIPTION);
		/* Two words of the C library, then thread-local storage. */
		visitor->visit(visitor->context, pointer + 2 * image->word, end);
	} else {
		visitor->visit(visitor->context, start, pointer);
	}
	each_past(image, &thread, visitor->id_below, visitor->visit, visitor->context);
}

/* Visits the stacks from the upper end of the part down to one that is not known, and those of the
 * usual size from the lower end up. */
static void visit_stacks(const struct stack_area *area, const struct visitor *visitor)
{
	const uint64_t size = area->list->stack_layout.size;
	uint64_t end = area->part->end, start;

	while (end > area->part->start && (start = find_start(area, end)) != 0) {
		visit_stack(area, start, end, visitor);
		end = start;
	}
	for (start = area->low; size != 0 && start < end && end - start >= size; start += size) {
		if (find_start(area, start + size) != start)
			break;
		visit_stack(area, start, start + size, visitor);
	}
}

void ended_stacks_each(const struct image *image, const struct block_list *list,
                       void (*visit)(void *context, uint64_t start, uint64_t end), void *context)
{
	struct visitor visitor = {visit, context, 0};

	if (list->stack_layout.bounds == 0)
		return;
	visitor.id_below = find_id(image, list);
	for (size_t i = 1; i < image->part_count; i++) {
		const struct image_part *part = &image->parts[i], *guard = part - 1;
		/* gdb calls the guard readable, though it is not. */
		const bool has_guard =
		        guard->end == part->start && !guard->is_writable && !guard->is_code;
		const struct stack_area area = {image, list, part,
		                                has_guard ? guard->start : part->start};

		if (part->is_readable && part->is_writable && !part->is_code)
			visit_stacks(&area, &visitor);
	}
}
