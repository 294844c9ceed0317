/* interrupted_hold.c - a thread keeps the record of a block while the allocator has it
 * (wrap/live/held.c).  At any instruction a signal comes, whose handler looks for calls that were
 * left.  For x86-64, which can stop at each instruction.
 * sources: wrap/live/held.c wrap/unwind/stack_bounds.c wrap/base/thread.c wrap/port/linux*.c
 * flags: -Wl,--wrap=leakwrap_signals_block -Wl,--wrap=leakwrap_signals_restore */
#include "wrap/live/held.h"
#include "stepping.h"
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

#if CAN_STEP

static const struct leakwrap_live_block wanted = {0x1000, 100, 7};

static void look_for_left_calls(void)
{
	struct leakwrap_live_block block;

	CHECK(leakwrap_held_take_left((uintptr_t)&block, &block) == 0);
}

/* Lets the signal come at the instruction NUMBER.  The table has never been used.  Returns whether
 * there is such an instruction. */
static bool is_held_across(unsigned number)
{
	struct leakwrap_live_block block;
	uint32_t mark;

	between_at = number;
	steps = 0;
	step(true);
	mark = leakwrap_held_take(&wanted, false, (uintptr_t)__builtin_frame_address(0));
	step(false);
	CHECK(mark != 0 && leakwrap_held_read(mark, &block));
	CHECK(block.address == wanted.address && block.size == wanted.size);
	return steps >= number;
}

int main(void)
{
	enum { IS_HELD = 10, NO_INSTRUCTION };
	int status = 0;

	between = look_for_left_calls;
	catch_traps();
	for (unsigned number = 1; WEXITSTATUS(status) != NO_INSTRUCTION; number++) {
		const pid_t child = fork();

		if (child == 0)
			_exit(is_held_across(number) ? IS_HELD : NO_INSTRUCTION);
		CHECK(child > 0 && waitpid(child, &status, 0) == child);
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) >= IS_HELD);
		CHECK(WEXITSTATUS(status) == IS_HELD || number > 30);
	}
	return 0;
}

#else

int main(void)
{
	return 0;
}

#endif
