/* tasks.c - three cooperative tasks take turns in the middle of their allocations. Two tasks have
 * the same name. */
#include <stdlib.h>

#include "board.h"
#include "leakwrap_bare.h"
#include "rtos.h"

static uint64_t memory[1024];

static int64_t utc(void);

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .live_blocks = 64,
        .write = console_write,
        .lock = board_lock,
        .unlock = board_unlock,
        .task = board_describe_task,
        .nanoseconds = board_nanoseconds,
        .utc = utc,
        .program = "/firmware/tasks.elf",
};

const char *leakwrap_default_options(void)
{
	return "depth=12:exit=0";
}

static void *volatile kept;

/* Volatile, so that the compiler unrolls no loop. */
static volatile int two = 2, three = 3;

static int64_t utc(void)
{
	return 1700000000;
}

static void shared(size_t size)
{
	kept = malloc(size);
	task_yield();
}

/* Has a frame whose size the compiler does not know, so Thumb code finds the caller by r7. The
 * other tasks take their turns in the middle of its allocation. */
static void by_frame(size_t size)
{
	volatile char room[size];

	room[0] = 0;
	kept = pvPortMalloc(size + (size_t)room[0]);
}

static void receive(void)
{
	by_frame(24);
	for (int i = 0; i < three; i++)
		shared(20);
}

static void work(void)
{
	for (int i = 0; i < two; i++)
		shared(50);
	kept = pvPortMalloc(8);
	by_frame(40);
}

/* Disables its own recording. Its blocks are not shown, though other tasks allocate meanwhile. */
static void quiet(void)
{
	leakwrap_disable();
	for (int i = 0; i < 4; i++)
		shared(1000);
	leakwrap_enable();
	shared(7);
}

int main(void)
{
	task_create("uart rx", receive, 2048);
	task_create("worker", work, 2048);
	task_create("worker", work, 2048);
	task_create("quiet", quiet, 2048);
	tasks_run();
	kept = malloc(3);
	return leakwrap_dump(-1);
}
