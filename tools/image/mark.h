/* mark.h - follows pointers in an image, and finds which live blocks they lead to.
 *
 *   1. mark_start
 *   2. mark_register, mark_range, mark_block   for each root
 *   3. mark_finish                         follows the pointers in blocks
 *
 * The rules are those of the runtime (wrap/reach/mark.h).  A block remembers where the pointer to
 * it was found, so that the way from a root to it can be told.  Roots that were marked earlier, and
 * short ways, are preferred.
 */
#ifndef TOOLS_IMAGE_MARK_H
#define TOOLS_IMAGE_MARK_H

#include "tools/image/block_index.h"
#include "tools/image/image.h"

enum mark_kind {
	MARK_UNREACHED,
	MARK_POSSIBLE,
	MARK_REACHABLE,
	MARK_LOST, /* definitely; with IS_INDIRECT, indirectly */
};

/* What is known of a block. */
struct mark {
	enum mark_kind kind;
	bool is_indirect; /* of a lost block: another lost block leads to it */
	bool is_counted;
	/* Where the pointer to the block was found: at the address AT, in the block FROM.
	 * NO_BLOCK: in a root, or nowhere. */
	size_t from;
	uint64_t at;
	/* If a register of a thread has the pointer: its index, else -1; AT is 0 then. */
	int thread;
	/* Of an indirectly lost block: the definitely lost block that it counts at. */
	size_t leader;
	/* The first places in a possibly lost block to which reachable memory leads
	 * (wrap/reach/slabs.h), or NULL: the numbers of words, from 1 on. */
	uint16_t *places;
};

/* A block whose pointers must be followed. */
struct mark_queue {
	size_t *blocks;
	size_t first, behind, room;
};

/* Returns whether the pointer POINTER into BLOCK, which is not to its first byte, keeps the block
 * reachable all the same.  AT: where it was found, see struct mark. */
typedef bool mark_interior(const void *context, const struct listed_block *block, uint64_t pointer,
                           uint64_t at);

/* Returns the address of the block that has the elements of an array, or the table of its rows if
 * it HAS_ROWS, or 0.  Element or row 0 would be at ADDRESS, which stands at AT. */
typedef uint64_t mark_array(const void *context, uint64_t address, uint64_t at, bool has_rows);

struct marking {
	const struct image *image;
	const struct block_index *index;
	struct mark *marks; /* by block */
	struct mark_queue queue;
	mark_interior *is_usual_interior;
	mark_interior *leads_back;
	mark_interior *is_held_by_end; /* of a pointer to the end of BLOCK */
	mark_array *find_array;
	const void *context;               /* of the four functions */
	const struct listed_stack *stacks; /* a stack may be a block */
	size_t stack_count;
	uint64_t step;        /* bytes between two places for a pointer; 0: a word */
	uint64_t scanned_end; /* where the last scan ended */
	size_t leader;        /* the lost block whose pointers are followed */
};

/* Starts MARKING, whose IMAGE, INDEX and functions the caller has set.  The caller frees it with
 * mark_free. */
void mark_start(struct marking *marking);
void mark_free(struct marking *marking);

/* Takes WORD, a register of the thread with the number THREAD, for a pointer of a root. */
void mark_register(struct marking *marking, uint64_t word, int thread);

/* Takes the words from START to END for pointers of a root, as far as the image has them. */
void mark_range(struct marking *marking, uint64_t start, uint64_t end);

/* Makes the block that holds ADDRESS reachable, if there is one.  A pointer at AT leads
 * there. */
void mark_block(struct marking *marking, uint64_t address, uint64_t at);

/* Follows all pointers.  All marks are final then. */
void mark_finish(struct marking *marking);

#endif
