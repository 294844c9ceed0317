/* view.h - what the renderers share: which dumps to show, how things are called, attribution. */
#ifndef TOOLS_VIEW_H
#define TOOLS_VIEW_H

#include "tools/model/model.h"

/* -- selection ----------------------------------------------------------------------------------- */

struct dump_list {
	const struct dump **all;
	size_t count;
};

enum which_dumps {
	DUMPS_ALL,
	DUMPS_LAST,           /* of each process */
	DUMPS_LAST_OR_CHOSEN, /* and those that the user chose by number */
};

/* The dumps of REPORT; from the report's arena. */
struct dump_list list_dumps(struct report *report, enum which_dumps which);

/* -- names --------------------------------------------------------------------------------------- */

/* The function of FRAME, or else "module+0x1234", or the raw address. */
const char *frame_name(struct arena *arena, const struct location *location,
                       const struct frame *frame);

/* What the function FULL is called without template arguments, parameters, return type and what
 * compilers append (foo.isra.0): "std::vector::push_back". */
char *plain_name(struct arena *arena, const char *full);

/* "file.c:12", or else "module+0x1234", or "". */
const char *frame_place(struct arena *arena, const struct location *location,
                        const struct frame *frame);

/* "SIGSEGV (code 1, SEGV_MAPERR) at address 0x0 in thread 4712". */
const char *fault_text(struct arena *arena, const struct fault *fault);

/* "double free of 0x55d0c9a012a0 by free in thread 4712", and of a block "40 bytes at 0x55d0c9a012a0, allocated by
 * operator new". */
const char *misuse_text(struct arena *arena, const struct misuse *misuse);
const char *misuse_block_text(struct arena *arena, const struct misuse *misuse);

/* -- parts of a stack ---------------------------------------------------------------------------- */

/* How many frames of STACK, inlined ones counted, lead from the innermost one to main, or to the
 * function that its thread starts with.  What lies beyond them is the C library's start-up code. */
unsigned frames_to_main(const struct stack *stack);

/* -- attribution --------------------------------------------------------------------------------- */

enum group_kind {
	GROUP_NONE,
	GROUP_FUNCTION,
	GROUP_FILE,
	GROUP_MODULE,
	GROUP_MEMBER,
};

/* GROUP_NONE when NAME is none of function, file, module, member. */
enum group_kind group_kind_named(const char *name);
extern const char *const group_kind_names[5];

struct group {
	const char *name;
	uint64_t bytes, blocks, sites;          /* that it asked for itself (askers.h) */
	uint64_t through_bytes, through_blocks; /* that have it anywhere in their stacks */
	size_t counted; /* how many call sites of the dump THROUGH has seen */
};

struct groups {
	struct group **all; /* most bytes first */
	size_t count, room;
};

/* What asked for the memory of STACK; the same pointer for the same thing. */
const char *group_of_stack(const struct stack *stack, enum group_kind kind);

/* The call sites of DUMP by KIND; the groups live in ARENA, the array is the caller's to free. */
struct groups group_dump(struct arena *arena, const struct dump *dump, enum group_kind kind);

#endif
