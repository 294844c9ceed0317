/* view.h - what the renderers share: which dumps to show, names, attribution. */
#ifndef TOOLS_MODEL_VIEW_H
#define TOOLS_MODEL_VIEW_H

#include "tools/model/model.h"

/* -- selection --------------------------------------------------------------------------------- */

struct dump_list {
	const struct dump **all;
	size_t count;
};

enum which_dumps {
	DUMPS_ALL,
	DUMPS_LAST,           /* of each process */
	DUMPS_LAST_OR_CHOSEN, /* and those that the user chose by number */
};

/* Returns the dumps of REPORT that WHICH names.  The list is of the arena of REPORT. */
struct dump_list list_dumps(struct report *report, enum which_dumps which);

/* Returns how many seconds after FIRST the dump LATER of its process was made: by the machine's
 * uptime, if both have it, else by the clock, which may have been set.  Returns a negative number
 * if the times are not known, or LATER has the earlier one. */
int64_t seconds_between(const struct dump *first, const struct dump *later);

/* Returns true if the times of DUMPS, of one process, show how long lies between them: its clock
 * never goes back, and at least LEAST seconds pass.  Times are in whole seconds, and all dumps may
 * come within one. */
bool is_timed(const struct dump_list *dumps, int64_t least);

/* -- names ------------------------------------------------------------------------------------- */

/* Returns the function of FRAME.  Without one it returns "module+0x1234", or the raw address. */
const char *frame_name(struct arena *arena, const struct location *location,
                       const struct frame *frame);

/* Returns the name of function FULL without template arguments, parameters, return type, closures
 * and the suffixes of compilers (foo.isra.0): "std::vector::push_back", for a method of Rust
 * "alloc::vec::Vec::clone", and for one of D "app.Server.start". */
char *plain_name(struct arena *arena, const char *full);

/* Returns "file.c:12".  Without a file it returns "module+0x1234", or the raw address. */
const char *frame_place(struct arena *arena, const struct location *location,
                        const struct frame *frame);

/* Returns a text like "SIGSEGV (code 1, SEGV_MAPERR) at address 0x0 in thread 4712".  Says so if
 * the registers tell that the stack has overflowed.  The name of a task may hold any characters. */
const char *fault_text(struct arena *arena, const struct fault *fault);

/* Returns a text like "double free of 0x55d0c9a012a0 by free in thread 4712", and of the block "40
 * bytes at 0x55d0c9a012a0, allocated by operator new". */
const char *misuse_text(struct arena *arena, const struct misuse *misuse);
const char *misuse_block_text(struct arena *arena, const struct misuse *misuse);

/* -- parts of a stack -------------------------------------------------------------------------- */

/* Returns how many frames of STACK, with inlined ones, lead from the innermost one to main, or to
 * the first function of the thread.  The frames beyond are the start-up code of the C library. */
unsigned frames_to_main(const struct stack *stack);

/* -- attribution ------------------------------------------------------------------------------- */

enum group_kind {
	GROUP_NONE,
	GROUP_FUNCTION,
	GROUP_FILE,
	GROUP_MODULE,
	GROUP_MEMBER,
	GROUP_ORIGIN, /* the program, the system's libraries, or a library's path */
};

/* Returns the kind NAME (function, file, module, member or origin), or GROUP_NONE. */
enum group_kind group_kind_named(const char *name);
extern const char *const group_kind_names[6];

struct group {
	const char *name;
	uint64_t bytes, blocks, sites;          /* that it asked for itself (askers.h) */
	struct reach_sums reach;                /* of these, of the kinds that the dump shows */
	struct reach_sums all_kinds;            /* of these, of all kinds */
	uint64_t through_bytes, through_blocks; /* that have it anywhere in their stacks */
	size_t counted; /* how many call sites of the dump THROUGH has seen */
};

struct groups {
	struct group **all; /* the greatest loss first, then most bytes */
	size_t count, room;
};

/* Returns the group of KIND that asked for the memory of STACK.  Equal names have one address. */
const char *group_of_stack(const struct stack *stack, enum group_kind kind);

/* Adds up the call sites of DUMP by KIND.  The groups are of ARENA.  The caller frees the array. */
struct groups group_dump(struct arena *arena, const struct dump *dump, enum group_kind kind);

#endif
