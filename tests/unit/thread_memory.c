/* thread_memory.c - thread_memory.c in wrap/base: no two threads have one block, also where a new
 * thread has the id of an earlier one.  The threads are made up.
 * sources: wrap/base/thread_memory.c wrap/base/thread.c wrap/port/linux*.c wrap/base/options.c
 * sources: wrap/base/loss.c
 * flags: -Wl,--wrap=leakwrap_thread_id -Wl,--wrap=leakwrap_thread_has_ended */
#include "wrap/base/thread_memory.h"
#include "wrap/port/port.h"
#include "unit.h"

/* Blocks of more than half a page: each is mapped by itself. */
static struct leakwrap_thread_memory blocks = {.size = 3000};

enum { FIRST = 100, SECOND };

/* The id of the running thread, and whether FIRST has ended. */
static int running = FIRST;
static bool has_ended;

/* What comes when a thread has seen that FIRST has ended, or NULL. */
static void (*between)(void);

int __wrap_leakwrap_thread_id(void);
bool __wrap_leakwrap_thread_has_ended(int process, int thread);

int __wrap_leakwrap_thread_id(void)
{
	return running;
}

bool __wrap_leakwrap_thread_has_ended(int process, int thread)
{
	void (*const comes)(void) = between;
	const bool had_ended = has_ended;

	(void)process;
	CHECK(thread >= FIRST);
	if (thread != FIRST)
		return false;
	between = NULL;
	if (comes)
		comes();
	return had_ended;
}

static void *of_new_thread;

/* A new thread gets the id FIRST, and the block of the earlier thread. */
static void begin_again(void)
{
	const int before = running;

	has_ended = false;
	running = FIRST;
	of_new_thread = leakwrap_thread_memory_take(&blocks);
	running = before;
}

int main(void)
{
	void *const first = leakwrap_thread_memory_take(&blocks);

	for (int round = 0; round < 3; round++) {
		void *second;

		has_ended = true;
		running = SECOND + round;
		between = begin_again;
		second = leakwrap_thread_memory_take(&blocks);
		CHECK(of_new_thread == first && second != first);
		CHECK(!leakwrap_thread_memory_is_left(first));
		CHECK(!leakwrap_thread_memory_is_left(second));
	}
	/* The block is left when that thread has ended, too. */
	has_ended = true;
	CHECK(leakwrap_thread_memory_is_left(first));
	running++;
	CHECK(leakwrap_thread_memory_take(&blocks) == first);
	return 0;
}
