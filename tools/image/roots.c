/* roots.c - see roots.h. */
#include "tools/image/roots.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/image/ended_stacks.h"
#include "tools/image/heap.h"
#include "tools/image/jemalloc.h"

enum {
	PAGE = 4096,
	RED_ZONE = 128, /* bytes below sp that a function may use (x86-64 ABI, 3.2.2) */
	/* The C library's mapping of a stack ends shortly behind the thread pointer. */
	ABOVE_MAX = 65536,
	ALTERNATE_STACK_MAX = 65536,
};

/* How far from the thread pointer a thread-local variable of the program may be. */
#define STATE_MAX (UINT64_C(1) << 20)

/* What is no root, by address. */
struct exceptions {
	struct memory_range *all;
	size_t count, room;
};

static void except(struct exceptions *exceptions, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	GROW(exceptions->all, exceptions->room, exceptions->count + 1);
	exceptions->all[exceptions->count++] = (struct memory_range){start, end};
}

static void except_range(void *exceptions, uint64_t start, uint64_t end)
{
	except(exceptions, start, end);
}

static int compare_ranges(const void *left, const void *right)
{
	const struct memory_range *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* -- threads ----------------------------------------------------------------------------------- */

/* Returns the lower end of the mapping of THREAD's stack, by the C library's description of the
 * thread (wrap/unwind/stack_bounds.c), or 0 if it is not known. */
static uint64_t described_low(const struct image *image, const struct image_thread *thread)
{
	const uint64_t tp = thread->thread_pointer;
	uint64_t at = image_describes_below(image) ? tp - IMAGE_DESCRIPTION : tp;
	uint64_t low = UINT64_MAX;

	for (unsigned i = 0; tp > IMAGE_DESCRIPTION && i < IMAGE_DESCRIPTION / image->word; i++) {
		const uint64_t size = image_word(image, at);
		if (low < thread->sp && low % PAGE == 0 && size % PAGE == 0 && size > tp - low &&
		    low < tp && size - (tp - low) <= ABOVE_MAX)
			return low;
		low = size; /* this word may be the start, the next word its size */
		at += image->word;
	}
	return 0;
}

/* Returns the lower end of the stack of THREAD, or 0 if it is not known. */
static uint64_t stack_low(const struct image *image, const struct image_thread *thread)
{
	const struct image_part *part = image_part_at(image, thread->sp);

	if (part && part == image_part_at(image, image->main_stack))
		return part->start;
	uint64_t low = described_low(image, thread);
	return low > 0 && low <= thread->sp ? low : 0;
}

static uint64_t sp_of(const struct image *image, const struct image_thread *thread)
{
	return thread->sp - (image->machine == EM_X86_64 ? RED_ZONE : 0);
}

const struct image_thread *roots_stack_at(const struct root_search *search, uint64_t address)
{
	const struct image_thread *found = NULL;

	for (size_t i = 0; i < search->image->thread_count; i++) {
		const struct image_thread *thread = &search->image->threads[i];
		const struct image_part *part = image_part_at(search->image, thread->sp);
		if (!part || address < sp_of(search->image, thread) || address >= part->end)
			continue;
		/* Stacks may lie in one part: the nearest below. */
		if (!found || thread->sp > found->sp)
			found = thread;
	}
	return found;
}

/* Excepts the tracer's state of THREAD, and what of its stack is the past. */
static void except_of_thread(struct exceptions *exceptions, const struct root_search *search,
                             const struct image_thread *thread)
{
	const struct block_list *list = search->list;
	const uint64_t low = stack_low(search->image, thread);
	const uint64_t offset = list->thread_state.start - list->thread_pointer;

	if (low > 0)
		except(exceptions, low, sp_of(search->image, thread));
	/* The state is a thread-local variable of the program. */
	if (thread->thread_pointer != 0 && list->thread_pointer != 0 &&
	    offset + STATE_MAX < 2 * STATE_MAX)
		except(exceptions, thread->thread_pointer + offset,
		       thread->thread_pointer + offset + list->thread_state.end -
		               list->thread_state.start);
}

/* Returns the size of the program's thread-local storage, with room for its alignment. */
static uint64_t size_of_tls(const struct image *image)
{
	const bool is_wide = image->word == 8;
	const unsigned size = is_wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

	for (uint64_t i = 0; i < image->header_count && i < UINT16_MAX; i++) {
		const unsigned char *header;
		if (image_bytes(image, image->headers + i * size, &header) < size ||
		    image_load(header, 4) != PT_TLS)
			continue;
		const uint64_t memory =
		        is_wide ? image_load(header + offsetof(Elf64_Phdr, p_memsz), 8)
		                : image_load(header + offsetof(Elf32_Phdr, p_memsz), 4);
		const uint64_t align =
		        is_wide ? image_load(header + offsetof(Elf64_Phdr, p_align), 8)
		                : image_load(header + offsetof(Elf32_Phdr, p_align), 4);
		return memory < STATE_MAX && align < STATE_MAX
		               ? memory + 2 * align + 2 * image->word
		               : 0;
	}
	return 0;
}

/* -- the heap ---------------------------------------------------------------------------------- */

/* Excepts glibc's heap in PART: its blocks are looked at by themselves. */
static void except_heap(struct exceptions *exceptions, const struct root_search *search,
                        const struct image_part *part)
{
	const struct heap_search heap = {search->image, search->index};
	uint64_t end;

	for (uint64_t at = part->start; (end = heap_next_row(&heap, part, &at)) > at; at = end)
		except(exceptions, at, end);
	for (uint64_t at = part->start; (end = heap_next_arena(&heap, part, &at)) > at; at = end)
		except(exceptions, at, end);
}

/* Excepts, on a board, the allocator's memory: that between two live blocks, if both lie in one
 * variable, or if no variable lies between them. */
static void except_between_blocks(struct exceptions *exceptions, const struct root_search *search)
{
	struct image_module *program = search->modules->count ? &search->modules->all[0] : NULL;
	const struct block_index *index = search->index;

	if (!program || !image_has_variable(program, 0, UINT64_MAX))
		return; /* without symbols */
	for (size_t i = 0; i + 1 < index->count; i++) {
		const uint64_t start = index->blocks[i].address;
		const uint64_t next = index->blocks[i + 1].address;
		const struct image_variable *in = image_variable_at(program, start);
		const bool is_one_variable = in && in == image_variable_at(program, next);
		if (image_part_at(search->image, start) == image_part_at(search->image, next) &&
		    (is_one_variable || !image_has_variable(program, start, next)))
			except(exceptions, start, next);
	}
}

/* Excepts, on a board, the variable in which newlib's malloc keeps the addresses of free memory.
 * Its empty bins look like glibc's. */
static void except_bins(struct exceptions *exceptions, const struct root_search *search)
{
	const struct heap_search heap = {search->image, search->index};
	struct image_module *program = search->modules->count ? &search->modules->all[0] : NULL;
	struct memory_range state;

	for (size_t i = 0; program && i < search->image->part_count; i++) {
		if (!heap_find_state(&heap, &search->image->parts[i], &state))
			continue;
		const struct image_variable *bins =
		        image_variable_at(program, state.end - search->image->word);
		if (bins)
			except(exceptions, bins->start, bins->end);
	}
}

static struct exceptions find_exceptions(const struct root_search *search)
{
	const struct block_list *list = search->list;
	const struct image *image = search->image;
	struct exceptions exceptions = {0};

	for (size_t i = 0; i < list->own_count; i++)
		except(&exceptions, list->own[i].start, list->own[i].end);
	except(&exceptions, list->thread_state.start, list->thread_state.end);
	for (size_t i = 0; i < image->thread_count; i++)
		except_of_thread(&exceptions, search, &image->threads[i]);
	ended_stacks_each(image, list, except_range, &exceptions);
	for (size_t i = 0; i < list->stack_count; i++)
		except(&exceptions, list->stacks[i].low, list->stacks[i].sp);
	if (!image->is_core && list->is_heap_known && !list->are_roots_listed)
		except_between_blocks(&exceptions, search);
	if (!image->is_core)
		except_bins(&exceptions, search);
	for (size_t i = 0; list->is_glibc && i < image->part_count; i++) {
		const struct image_part *part = &image->parts[i];
		struct memory_range state;
		if (!part->is_writable)
			continue;
		if (!image_module_at(search->modules, part->start)) {
			if (list->is_heap_known)
				except_heap(&exceptions, search, part);
		} else if (heap_find_state(&(struct heap_search){image, search->index}, part,
		                           &state)) {
			except(&exceptions, state.start, state.end);
		}
	}
	for (size_t i = 0; list->has_jemalloc && i < image->part_count; i++)
		if (image->parts[i].is_writable &&
		    !image_module_at(search->modules, image->parts[i].start))
			jemalloc_each_part(&(struct heap_search){image, search->index},
			                   &image->parts[i], list->is_heap_known, except_range,
			                   &exceptions);
	if (exceptions.count > 0)
		qsort(exceptions.all, exceptions.count, sizeof *exceptions.all, compare_ranges);
	return exceptions;
}

/* -- memory ------------------------------------------------------------------------------------ */

/* Marks from START to END, but for live blocks: these are no roots. */
static void mark_between_blocks(struct marking *marking, const struct root_search *search,
                                uint64_t start, uint64_t end)
{
	const struct block_index *index = search->index;

	while (start < end) {
		size_t in = block_index_find(index, start);
		if (in != NO_BLOCK) {
			start = block_end(&index->blocks[in]);
			continue;
		}
		size_t next = block_index_from(index, start);
		uint64_t limit = next < index->count && index->blocks[next].address < end
		                         ? index->blocks[next].address
		                         : end;
		mark_range(marking, start, limit);
		start = limit;
	}
}

/* Returns true if a live block lies on the page from START to END. */
static bool has_block(const struct block_index *index, uint64_t start, uint64_t end)
{
	if (block_index_find(index, start) != NO_BLOCK)
		return true;
	size_t next = block_index_from(index, start);
	return next < index->count && index->blocks[next].address < end;
}

/* Marks from START to the first live block behind START, which is before END, if a pool begins
 * there: as wrap/reach/roots.c does. */
static void mark_pool_header(struct marking *marking, const struct root_search *search,
                             uint64_t start, uint64_t end)
{
	const struct block_index *index = search->index;
	const struct image_part *part = image_part_at(search->image, start);
	const uint64_t before = start - start % PAGE - PAGE;
	const size_t next = block_index_from(index, start);

	if (search->list->is_glibc && part && block_index_find(index, start) == NO_BLOCK &&
	    !has_block(index, before > part->start ? before : part->start, start) &&
	    next < index->count && index->blocks[next].address < end)
		mark_range(marking, start, index->blocks[next].address);
}

/* What a part of the image is used for. */
enum part_use { USE_MODULE, USE_OTHER, USE_STACK };

static enum part_use use_of(const struct root_search *search, const struct image_part *part)
{
	if (image_module_at(search->modules, part->start))
		return USE_MODULE;
	for (size_t i = 0; i < search->image->thread_count; i++)
		if (image_part_at(search->image, search->image->threads[i].sp) == part)
			return USE_STACK;
	return USE_OTHER;
}

/* Marks from START to END, which are in one part of the given USE. */
static void mark_pages(struct marking *marking, const struct root_search *search, uint64_t start,
                       uint64_t end, enum part_use use)
{
	const bool may_be_allocators =
	        use == USE_OTHER && search->list->is_heap_known && search->image->is_core;

	while (start < end) {
		const uint64_t behind =
		        end - start < PAGE - start % PAGE ? end : start + (PAGE - start % PAGE);
		/* A page with a live block is the allocator's as a whole, unless it has variables,
		 * but not on a board. */
		if (!has_block(search->index, start, behind))
			mark_range(marking, start, behind);
		else if (!may_be_allocators)
			mark_between_blocks(marking, search, start, behind);
		else
			mark_pool_header(marking, search, start, behind);
		start = behind;
	}
}

/* Marks from AT to END, which are in one part of the given USE, but for EXCEPTIONS. */
static void mark_but_for(struct marking *marking, const struct root_search *search,
                         const struct exceptions *exceptions, uint64_t at, uint64_t end,
                         enum part_use use)
{
	for (size_t i = 0; i < exceptions->count && exceptions->all[i].start < end; i++) {
		if (exceptions->all[i].end <= at)
			continue;
		if (exceptions->all[i].start > at)
			mark_pages(marking, search, at, exceptions->all[i].start, use);
		at = exceptions->all[i].end;
	}
	if (at < end)
		mark_pages(marking, search, at, end, use);
}

/* Returns true if PART begins with the headers of a file.  gdb adds what the file has behind them:
 * symbols and hashes. */
static bool has_file_headers(const struct image_part *part)
{
	return !part->is_writable && part->length >= SELFMAG &&
	       memcmp(part->bytes, ELFMAG, SELFMAG) == 0;
}

/* Returns true if PART may hold pointers.  Memory that is only read may have been written to
 * before.  The code of a module is never a root, nor are the headers of its file. */
static bool is_root(const struct root_search *search, const struct image_part *part)
{
	if (!part->is_readable || part->length == 0)
		return false;
	if (search->image->is_core && image_module_at(search->modules, part->start))
		return part->is_writable || (!part->is_code && !has_file_headers(part));
	return part->is_writable || !part->is_code || search->image->is_core;
}

static void mark_parts(struct marking *marking, const struct root_search *search,
                       const struct exceptions *exceptions, enum part_use use)
{
	for (size_t i = 0; i < search->image->part_count; i++) {
		const struct image_part *part = &search->image->parts[i];
		if (is_root(search, part) && use_of(search, part) == use)
			mark_but_for(marking, search, exceptions, part->start,
			             part->start + part->length, use);
	}
}

/* Returns where the thread-local storage of THREAD and its description lie; an empty range if that
 * is not known. */
static struct memory_range storage_of(const struct image *image, const struct image_thread *thread)
{
	const uint64_t tp = thread->thread_pointer;
	const uint64_t tls = size_of_tls(image);
	const uint64_t below = image_describes_below(image) ? IMAGE_DESCRIPTION : tls;
	const uint64_t above = image_describes_below(image) ? tls : IMAGE_DESCRIPTION;
	const struct image_part *part = image_part_at(image, tp);

	if (tp == 0 || !part)
		return (struct memory_range){0, 0};
	return (struct memory_range){tp - part->start > below ? tp - below : part->start,
	                             part->end - tp > above ? tp + above : part->end};
}

const struct image_thread *roots_storage_at(const struct root_search *search, uint64_t address)
{
	for (size_t i = 0; i < search->image->thread_count; i++) {
		const struct image_thread *thread = &search->image->threads[i];
		const struct memory_range range = storage_of(search->image, thread);
		if (address >= range.start && address < range.end)
			return thread;
	}
	return NULL;
}

/* Marks the thread-local storage of THREAD, which may lie beside the heap. */
static void mark_thread_storage(struct marking *marking, const struct root_search *search,
                                const struct image_thread *thread)
{
	const struct image *image = search->image;
	const uint64_t tp = thread->thread_pointer;
	const struct memory_range range = storage_of(image, thread);
	const uint64_t state_start =
	        tp + search->list->thread_state.start - search->list->thread_pointer;
	const uint64_t state_end =
	        tp + search->list->thread_state.end - search->list->thread_pointer;

	if (range.start == range.end)
		return;
	/* The vector of dynamic thread-local storage: glibc points behind its first elements. */
	for (int i = -2; i < 2; i++) {
		const uint64_t at = tp + (uint64_t)(int64_t)i * image->word;
		const uint64_t word = image_word(image, at);
		if (word != 0)
			mark_block(marking, word, at);
	}
	if (search->list->thread_pointer != 0 && state_start >= range.start &&
	    state_start < range.end) {
		mark_between_blocks(marking, search, range.start, state_start);
		mark_between_blocks(marking, search, state_end, range.end);
	} else {
		mark_between_blocks(marking, search, range.start, range.end);
	}
}

static void mark_thread(struct marking *marking, const struct root_search *search, size_t number)
{
	const struct image_thread *thread = &search->image->threads[number];
	const uint64_t word = search->image->word;

	mark_thread_storage(marking, search, thread);
	/* Its stack may be a block, or one that the tracer has mapped. */
	mark_block(marking, thread->sp, thread->sp);
	for (size_t i = 0; i < search->list->own_count; i++) {
		const struct memory_range *own = &search->list->own[i];
		if (thread->sp >= own->start && thread->sp < own->end)
			mark_range(marking, thread->sp,
			           own->end - thread->sp < ALTERNATE_STACK_MAX
			                   ? own->end
			                   : thread->sp + ALTERNATE_STACK_MAX);
	}
	for (size_t i = 0; i < thread->register_count; i++) {
		const struct image_registers *registers = &thread->registers[i];
		for (size_t at = 0; at + word <= registers->size; at += (size_t)word)
			mark_register(marking, image_load(registers->bytes + at, word),
			              (int)number);
	}
}

/* Marks from what the program of a board says are all its roots. */
static void mark_listed(struct marking *marking, const struct root_search *search,
                        const struct exceptions *exceptions)
{
	for (size_t i = 0; i < search->list->root_count; i++)
		mark_but_for(marking, search, exceptions, search->list->roots[i].start,
		             search->list->roots[i].end, USE_MODULE);
}

/* Marks from all memory that may hold pointers. */
static void mark_found(struct marking *marking, const struct root_search *search,
                       const struct exceptions *exceptions)
{
	mark_parts(marking, search, exceptions, USE_MODULE);
	for (size_t i = 0; i < search->list->root_count; i++)
		mark_range(marking, search->list->roots[i].start, search->list->roots[i].end);
	mark_parts(marking, search, exceptions, USE_OTHER);
	mark_parts(marking, search, exceptions, USE_STACK);
}

void roots_mark(struct marking *marking, const struct root_search *search)
{
	struct exceptions exceptions = find_exceptions(search);
	const struct listed_stack *stack = search->list->stacks;

	if (search->list->are_roots_listed)
		mark_listed(marking, search, &exceptions);
	else
		mark_found(marking, search, &exceptions);
	/* A stack may be a block, or a part of one. */
	for (size_t i = 0; i < search->list->stack_count; i++, stack++) {
		mark_range(marking, stack->sp, stack->high);
		mark_block(marking, stack->sp, stack->sp);
	}
	for (size_t i = 0; i < search->image->thread_count; i++)
		mark_thread(marking, search, i);
	free(exceptions.all);
}
