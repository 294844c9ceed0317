/* stack_bounds.c - see stack_bounds.h. */
#include "wrap/unwind/stack_bounds.h"

#include "wrap/arch/arch.h"
#include "wrap/port/port.h"
#include "wrap/base/thread.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/* Where the lower end of the stack is not known, the stack may grow by this many bytes between two
 * backtraces; each page is probed once.  A stack pointer further below counts as foreign.  The
 * kernel keeps mappings 128 MiB away from the main thread's stack. */
#define GROWTH_MAX ((uintptr_t)16384 * LEAKWRAP_PAGE)

#ifndef LEAKWRAP_NO___libc_stack_end
extern void *__libc_stack_end; /* glibc: the stack pointer that the kernel set at the start */
#endif

/* NOLINTNEXTLINE(readability-redundant-declaration) */
extern char **environ; /* not in the <unistd.h> of every C library */

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
}

/* Returns the upper end of the calling thread's stack.  The main thread's stack ends above the
 * place where the kernel left argc; the environment's pointers lie above that place.  The C library
 * maps the stacks of other threads and puts thread-local storage, leakwrap_self too, at their upper
 * end. */
static uintptr_t find_high(void)
{
	if (leakwrap_thread_id() != leakwrap_process_id())
		return (uintptr_t)&leakwrap_self;
#ifndef LEAKWRAP_NO___libc_stack_end
	return (uintptr_t)__libc_stack_end;
#else
	return (uintptr_t)environ;
#endif
}

/* The C library describes each thread in a structure that begins or ends at the thread pointer.
 * Two neighbouring words of it are the start and the size of the mapping that holds the stack:
 *
 *   glibc  stackblock, stackblock_size (nptl/descr.h, struct pthread)
 *   musl   map_base, map_size (src/internal/pthread_impl.h, struct pthread)
 *
 * Their offsets differ between versions, so they are recognized by their values.  Both are whole
 * pages.  The mapping begins below the stack pointer and ends shortly behind the thread pointer.
 * If the program has allocated the stack itself, its limits may be no whole pages.  Then the limits
 * are unknown. */
#define ABOVE_MAX ((uintptr_t)65536) /* bytes of the mapping above the thread pointer */

/* What leakwrap_stack_layout returns, or 0.  Threads store the same, but for the size. */
static _Atomic uintptr_t layout_thread_pointer, layout_bounds, layout_size;

/* Returns the lower end of the mapping of this thread's stack, or UINTPTR_MAX if it is unknown.  SP
 * is on the stack.  Do not call it on the main thread: the kernel has made that stack. */
static uintptr_t find_low(uintptr_t sp)
{
	const uintptr_t self = LEAKWRAP_THREAD_POINTER;
	const uintptr_t first =
	        self - (LEAKWRAP_THREAD_POINTER_IS_END ? LEAKWRAP_DESCRIPTION_MAX : 0);
	uintptr_t low = UINTPTR_MAX;

	if (self == 0)
		return UINTPTR_MAX;
	for (uintptr_t at = first; at < first + LEAKWRAP_DESCRIPTION_MAX; at += sizeof(at)) {
		uintptr_t size;

		if ((at == first || at == page_of(at)) && !leakwrap_readable(at))
			break;
		size = leakwrap_stack_word(at);
		if (low < sp && low == page_of(low) && size == page_of(size) && size < low &&
		    size > self - low && size - (self - low) <= ABOVE_MAX) {
			atomic_store(&layout_size, size);
			atomic_store(&layout_thread_pointer, low + size - self);
			atomic_store(&layout_bounds, low + size - (at - sizeof(at)));
			return low;
		}
		low = size; /* this word may be the start, the next word its size */
	}
	return UINTPTR_MAX;
}

bool leakwrap_stack_layout(struct leakwrap_stack_layout *layout)
{
	layout->bounds = atomic_load(&layout_bounds);
	layout->thread_pointer = atomic_load(&layout_thread_pointer);
	layout->size = atomic_load(&layout_size);
	return layout->bounds != 0;
}

/* Finds the bounds of the thread's stack.  stack_floor stays 0 if the lower end is not known. */
static void find_bounds(struct leakwrap_thread *self)
{
	uintptr_t low = UINTPTR_MAX;

	self->stack_high = find_high();
	self->stack_room = self->stack_high - page_of(self->stack_high);
	if (self->stack_high == (uintptr_t)self)
		low = find_low(self->stack_high);
	if (low != UINTPTR_MAX)
		self->stack_floor = low;
}

/* Extends the trusted part down to the page of SP.  Returns false if SP is not on this stack, or a
 * page on the way cannot be read. */
static bool grow_down(struct leakwrap_thread *self, uintptr_t sp)
{
	if (self->stack_high == 0)
		find_bounds(self);
	if (sp >= self->stack_high || sp < self->stack_floor)
		return false;
	if (self->stack_floor == 0 && self->stack_high - sp > self->stack_room + GROWTH_MAX)
		return false;
	while (self->stack_high - sp > self->stack_room) {
		uintptr_t low = self->stack_high - self->stack_room;

		if (!leakwrap_readable(low - LEAKWRAP_PAGE)) {
			self->stack_floor = low;
			return false;
		}
		self->stack_room = self->stack_high - (low - LEAKWRAP_PAGE);
	}
	return true;
}

/* Measured: on the main thread glibc 2.36 and musl 1.2.3 use 150 to 450 bytes above main.  On other
 * threads 116 (musl) to 2,100 bytes lie between the first function and leakwrap_self, on AArch64
 * and RISC-V up to 3,900 bytes: there glibc's description of the thread lies between them, too.
 * The rest is room for the thread-local storage of libraries that are loaded later. */
#define MAIN_START_MAX 1024u
#define START_MAX      (3072u + (LEAKWRAP_THREAD_POINTER_IS_END ? LEAKWRAP_DESCRIPTION_MAX : 0))

bool leakwrap_stack_is_outermost(uintptr_t sp)
{
	const uintptr_t high = leakwrap_self.stack_high;

	return high - sp <= (high == (uintptr_t)&leakwrap_self ? START_MAX : MAIN_START_MAX);
}

/* Returns true if all pages from LOW to HIGH can be read.  The kernel leaves a gap below the main
 * thread's stack, so memory that adjoins the stack is a part of it. */
static bool is_joined(uintptr_t low, uintptr_t high)
{
	for (uintptr_t page = page_of(low); page < high; page += LEAKWRAP_PAGE)
		if (!leakwrap_readable(page))
			return false;
	return true;
}

bool leakwrap_stack_holds(uintptr_t sp, uintptr_t address)
{
	const uintptr_t high = leakwrap_self.stack_high;

	if (!leakwrap_stack_is_own(sp) || address >= high)
		return false;
	if (high == (uintptr_t)&leakwrap_self)
		return address > find_low(sp);
	return address >= sp || (sp - address <= GROWTH_MAX && is_joined(address, sp));
}

uintptr_t leakwrap_stack_low(uintptr_t sp)
{
	uintptr_t low;

	if (!leakwrap_stack_is_own(sp) || leakwrap_self.stack_high != (uintptr_t)&leakwrap_self)
		return 0;
	low = find_low(sp);
	return low == UINTPTR_MAX ? 0 : low;
}

bool leakwrap_stack_is_own(uintptr_t sp)
{
	return leakwrap_stack_room(sp) > 0 || grow_down(&leakwrap_self, sp);
}

struct leakwrap_stack leakwrap_stack_find(uintptr_t sp)
{
	struct leakwrap_stack stack = {sp, sp, false};

	if (leakwrap_stack_is_own(sp)) {
		stack.high = leakwrap_self.stack_high;
		return stack;
	}
	stack.is_foreign = true;
	leakwrap_stack_probe(&stack, sp, 1);
	return stack;
}

bool leakwrap_stack_probe(struct leakwrap_stack *stack, uintptr_t address, uintptr_t size)
{
	uintptr_t first = page_of(address);
	uintptr_t last = page_of(address + size - 1);

	if (!stack->is_foreign || last < first)
		return false;
	for (uintptr_t page = first;; page += LEAKWRAP_PAGE) {
		if ((page < stack->low || page >= stack->high) && !leakwrap_readable(page))
			return false;
		if (page == last)
			break;
	}
	/* Pages next to the known range extend it; other pages replace it. */
	if (first > stack->high || last + LEAKWRAP_PAGE < stack->low) {
		stack->low = first;
		stack->high = last + LEAKWRAP_PAGE;
	}
	if (first < stack->low)
		stack->low = first;
	if (last + LEAKWRAP_PAGE > stack->high)
		stack->high = last + LEAKWRAP_PAGE;
	return true;
}

bool leakwrap_stack_scan_may_continue(struct leakwrap_stack *stack, uintptr_t address)
{
	return (address != page_of(address) || leakwrap_readable(address)) &&
	       leakwrap_stack_reach(stack, address, sizeof(uintptr_t));
}
