/* kinds.c - blocks that one kind of root alone holds, and lost blocks, in tasks that take turns.
 * Each has a size of its own; tests/bare/kinds.sh knows which is of which kind.  With IMAGE it
 * waits behind its dump, so that an image of the memory can be had (tests/bare/image.sh). */
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "leakwrap_bare.h"
#include "rtos.h"

#ifndef MEMORY
#define MEMORY 6144
#endif

#ifndef LIVE_BLOCKS
#define LIVE_BLOCKS 64
#endif
#ifndef ROOTS
#define ROOTS 1
#endif

static uint64_t memory[MEMORY / sizeof(uint64_t)];

static void each_stack(leakwrap_bare_visit_stack *visit, void *context);
static void write_unlocked(const char *bytes, size_t size);

extern char data_low[], heap_low[], heap_high[];
static const struct leakwrap_bare_range roots[] = {{data_low, heap_low}};

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .live_blocks = LIVE_BLOCKS,
        .write = write_unlocked,
        .lock = board_lock,
        .unlock = board_unlock,
        .task = board_describe_unnamed_task,
        .nanoseconds = board_nanoseconds,
        .program = "kinds.elf",
#ifndef NO_KINDS
        .kinds = &leakwrap_bare_kinds,
#endif
        .roots = roots,
        .root_count = ROOTS,
        .heap_low = heap_low,
        .heap_high = heap_high,
        .each_stack = each_stack,
};

const char *leakwrap_default_options(void)
{
#ifdef IMAGE
	return "exit=0:depth=4:blocks=1";
#else
	return "exit=0:depth=4";
#endif
}

/* -- the board --------------------------------------------------------------------------------- */

/* A driver may wait for an interrupt: it must never be called with the lock held. */
static void write_unlocked(const char *bytes, size_t size)
{
	if (board_is_locked())
		stop(5);
	console_write(bytes, size);
}

static void each_stack(leakwrap_bare_visit_stack *visit, void *context)
{
	struct task *each;

	for (unsigned i = 0; (each = task_number(i)) != NULL; i++) {
		const struct leakwrap_bare_stack stack = {(uintptr_t)task_stack_low(each),
		                                          (uintptr_t)task_stack_high(each),
		                                          (uintptr_t)task_sp(each)};

		visit(context, &stack);
	}
}

/* -- blocks ------------------------------------------------------------------------------------ */

static void *volatile data, *volatile inside[7];
static void *volatile initialized = (void *)&data; /* in .data */

static void *get(size_t size)
{
	return malloc(size);
}

static void hold_in_data(void)
{
	void *volatile *const chain = get(40);

	data = (void *)chain;
	*chain = get(41);
	initialized = get(42);
}

/* No memory is there on any of the boards. */
#define NOWHERE 0xe8000000u

/* One node leads to another, which leads back.  One seems to lead to where nothing can be read. */
static void hold_by_nodes(void)
{
	static uintptr_t list[2];
	uintptr_t *const node = get(46), *const other = get(71);

	node[3] = (uintptr_t)list;
	list[0] = (uintptr_t)&node[2];
	inside[5] = &node[2];
	other[2] = other[3] = NOWHERE;
	inside[6] = &other[2];
}

static void hold_by_inside(void)
{
	size_t *const string = get(43), *const array = get(44);
	uint64_t *const counted = get(48);
	size_t *const empty = get(8);

	memset(string, 0, 43);
	string[1] = 43 - 3 * sizeof(*string) - 1;
	inside[0] = string + 3;
	array[0] = 4; /* bytes of an element */
	array[1] = 9;
	inside[1] = array + 2;
	counted[0] = 40;
	inside[2] = counted + 1;
	inside[3] = (char *)get(70) + 6;
	empty[0] = 12; /* new T[0], where a T has 12 bytes */
	empty[1] = 0;
	inside[4] = empty + 2;
	hold_by_nodes();
}

static void hold_ignored(void)
{
	void *volatile *const ignored = get(49);

	*ignored = get(50);
	leakwrap_ignore((void *)ignored);
}

/* The pool's own pointer, before the part that it hands out, holds a block. */
static void hold_in_pool(void)
{
	static void *volatile pool, *volatile part;

	*(void **)(pool = get(90)) = get(45);
	part = (char *)pool + 40;
	leakwrap_record(part, 21);
}

/* A lost list of three blocks, and a block to which freed memory alone leads. */
static void lose(void)
{
	void *volatile *head = get(60), *volatile * second, *volatile *freed = get(200);

	head[0] = (void *)(second = get(61));
	second[0] = get(61);
	freed[20] = get(62);
	free((void *)freed);
	get(63);
}

/* Leaves a pointer deep below the stack of the caller, where nothing overwrites it.  Compilers save
 * r3 to align the stack, so it must not hold the pointer. */
static void leave_on_stack(void)
{
	void *volatile room[200];

	room[0] = get(64);
	(void)room[0];
	__asm__ volatile("mov r3, #0" ::: "r3");
}

/* -- tasks ------------------------------------------------------------------------------------- */

/* Waits with a block in a register that calls preserve, and one on the stack. */
static void hold(void)
{
	void *volatile on_stack = get(51);
	register void *in_register __asm__("r5") = get(52);

	leave_on_stack();
	__asm__ volatile("" : "+r"(in_register));
	task_yield();
	__asm__ volatile("" : "+r"(in_register));
	free(on_stack);
	free(in_register);
}

static int failed;

static void dump(void)
{
	void *volatile own = get(53);
	struct leakwrap_kind_counters kinds;

	hold_in_data();
	hold_by_inside();
	hold_ignored();
	hold_in_pool();
	lose();
	failed = leakwrap_dump(-1);
#ifdef IMAGE
	for (;;)
		(void)own;
#endif
#ifdef LITTLE
	failed |= leakwrap_get_kinds(&kinds) != -1;
#elif !defined(NO_KINDS)
	failed |= leakwrap_get_kinds(&kinds) != 0 || kinds.definite_blocks != 4 ||
	          kinds.indirect_bytes != 122 || kinds.possible_bytes != 141 || kinds.pause_ns == 0;
#else
	failed |= leakwrap_get_kinds(&kinds) != -1 || kinds.reachable_blocks != 0;
#endif
	free(own);
}

int main(void)
{
	void *volatile of_main = get(54);

	task_create("hold", hold, 3072);
	task_create("dump", dump, 3072);
	tasks_run();
	free(of_main);
	return failed;
}
