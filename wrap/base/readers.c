/* readers.c - see readers.h. */
#include "wrap/base/readers.h"

#include "wrap/base/thread.h"
#include "wrap/base/thread_memory.h"
#include "wrap/port/port.h"

#include <stdatomic.h>

/* In the memory of a thread. */
struct leakwrap_reader {
	/* Where its outermost entry is on the stack; 0: it is not inside. */
	_Atomic uintptr_t place;
	/* The latest grace when it entered, or later: no table was read before PLACE was set. */
	_Atomic unsigned grace;
};

static struct leakwrap_thread_memory readers = {.size = sizeof(struct leakwrap_reader)};

static _Atomic unsigned latest_grace; /* its number */
static _Atomic int nameless;          /* readers inside */

static bool is_on_own_stack(const struct leakwrap_thread *self, uintptr_t sp)
{
	return self->stack_high - sp - 1 < self->stack_room;
}

/* Returns whether the thread's entry at PLACE was left by longjmp: a signal handler has interrupted
 * a reader and has not returned.  The thread is LOWEST or higher on its stack now.  An alternate
 * stack may be a variable of an outer function: who runs there has interrupted the reader. */
static bool is_abandoned(const struct leakwrap_thread *self, uintptr_t place, uintptr_t lowest)
{
	return lowest > place && is_on_own_stack(self, lowest) && is_on_own_stack(self, place) &&
	       !leakwrap_thread_is_on_alternate_stack();
}

/* Gives this thread its memory.  Returns NULL if there is none.  A signal handler may do so
 * meanwhile: then it has left, or this thread will not go on here. */
static __attribute__((noinline)) struct leakwrap_reader *make_reader(struct leakwrap_thread *self)
{
	struct leakwrap_reader *reader = leakwrap_thread_memory_take(&readers);

	if (reader)
		atomic_store(&reader->place, 0);
	self->reader = reader;
	return reader;
}

/* Enters at PLACE on the stack, while the thread is LOWEST or higher (is_abandoned). */
static enum leakwrap_readers_entry enter(uintptr_t place, uintptr_t lowest)
{
	struct leakwrap_thread *const self = &leakwrap_self;
	struct leakwrap_reader *reader = self->reader;
	uintptr_t outer;

	if (!reader && !(reader = make_reader(self))) {
		atomic_fetch_add(&nameless, 1);
		return LEAKWRAP_READERS_NAMELESS;
	}
	outer = atomic_load_explicit(&reader->place, memory_order_relaxed);
	if (outer != 0 && !is_abandoned(self, outer, lowest))
		return LEAKWRAP_READERS_NONE; /* the outer entry counts */
	atomic_store_explicit(&reader->grace,
	                      atomic_load_explicit(&latest_grace, memory_order_acquire),
	                      memory_order_release);
	atomic_store_explicit(&reader->place, place, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst); /* the tables are read after that */
	return LEAKWRAP_READERS_INSIDE;
}

enum leakwrap_readers_entry leakwrap_readers_enter(void)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	return enter(sp, sp);
}

/* What the entry at SP calls has its stack below SP, and so has a signal handler.  An entry at SP
 * itself is a later call. */
enum leakwrap_readers_entry leakwrap_readers_enter_from(uintptr_t sp)
{
	return enter(sp, sp + 1);
}

void leakwrap_readers_leave(enum leakwrap_readers_entry entered)
{
	if (entered == LEAKWRAP_READERS_INSIDE)
		atomic_store_explicit(&leakwrap_self.reader->place, 0, memory_order_release);
	else if (entered == LEAKWRAP_READERS_NAMELESS)
		atomic_fetch_sub_explicit(&nameless, 1, memory_order_release);
}

void leakwrap_grace_begin(struct leakwrap_grace *grace)
{
	grace->number = atomic_fetch_add(&latest_grace, 1) + 1;
	grace->may_have_nameless = true;
	atomic_thread_fence(memory_order_seq_cst);
}

/* Returns whether READER may have entered before the grace NUMBER began, and be inside still.  A
 * reader that has entered since cannot find what was unlinked before. */
static bool is_inside_since_before(const struct leakwrap_reader *reader, unsigned number)
{
	return atomic_load_explicit(&reader->place, memory_order_acquire) != 0 &&
	       (int)(atomic_load_explicit(&reader->grace, memory_order_acquire) - number) < 0;
}

bool leakwrap_grace_is_over(struct leakwrap_grace *grace)
{
	const struct leakwrap_reader *reader = NULL;

	if (grace->may_have_nameless)
		grace->may_have_nameless = atomic_load(&nameless) != 0;
	if (grace->may_have_nameless)
		return false;
	while ((reader = leakwrap_thread_memory_next(&readers, reader)) != NULL)
		if (is_inside_since_before(reader, grace->number) &&
		    !leakwrap_thread_memory_is_left(reader))
			return false;
	return true;
}

/* The thread that forks may be inside itself: a signal handler forks. */
void leakwrap_readers_reset_in_child(void)
{
	leakwrap_thread_memory_reset_in_child(&readers, leakwrap_self.reader);
	atomic_store(&nameless, 0);
}
