/* ways.h - the ways of pointers that lead to the blocks of a call site.
 *
 * A way begins in a root, or in a lost block, and goes from block to block.  Blocks whose ways come
 * from the same root through the same call sites are one way: a list of a thousand elements is.
 */
#ifndef TOOLS_IMAGE_WAYS_H
#define TOOLS_IMAGE_WAYS_H

#include "tools/image/reach.h"

enum root_kind {
	ROOT_NONE,     /* no root: the way begins in a definitely lost block */
	ROOT_VARIABLE, /* of a module */
	ROOT_MODULE,   /* memory of a module in which no variable is known */
	ROOT_DECLARED, /* by leakwrap_root */
	ROOT_STORAGE,  /* thread-local storage */
	ROOT_STACK,
	ROOT_REGISTER,
	ROOT_MEMORY,  /* that the program has mapped, or free memory of the heap */
	ROOT_IGNORED, /* the first block is one of leakwrap_ignore */
	ROOT_PARTED,  /* other live blocks lie in the first block */
};

/* "variable" and so on, as in JSON. */
extern const char *const root_names[ROOT_PARTED + 1];

/* Where a way begins. */
struct way_root {
	enum root_kind kind;
	uint64_t address;            /* of the pointer; 0: in a register, or there is none */
	const struct module *module; /* or NULL */
	const char *variable;        /* mangled, or NULL */
	uint64_t offset;             /* of ADDRESS in the variable */
	unsigned long thread;        /* of a stack or register; or 0 */
};

/* Blocks of one call site, and the way to one of them. */
struct way {
	enum reach kind; /* REACH_INDIRECT or another, but not REACH_WITHIN */
	struct way_root root;
	uint64_t bytes, blocks;
	size_t block;  /* of the call site, with the shortest way */
	size_t *steps; /* from the root on: blocks by their numbers, the last is BLOCK */
	size_t step_count;
	uint64_t key; /* ways.c's */
};

struct ways {
	struct way *all; /* lost blocks first, then the way with the most blocks */
	size_t count, room;
};

/* Finds ways: what is learned of one call site serves the next. */
struct way_finder {
	struct image_reach *reach;
	struct trail *trails; /* by block */
	size_t *chain;        /* blocks whose trails are not known yet */
	size_t chain_room;
	size_t *by_rank; /* the blocks in the order of their ranks */
};

/* Starts a finder for REACH, which must outlive it.  The caller ends it with ways_end. */
struct way_finder ways_start(struct image_reach *reach);
void ways_end(struct way_finder *finder);

/* Finds the ways to the blocks of the call site with RANK, not 0.  The caller frees them with
 * ways_free. */
struct ways ways_find(struct way_finder *finder, uint64_t rank);
void ways_free(struct ways *ways);

#endif
