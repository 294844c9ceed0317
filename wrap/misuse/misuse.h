/* misuse.h - tells blocks that the program frees wrongly, for the option misuse=.
 *
 * Called by record.c on its slow paths alone; with misuse=off, none of it runs.  With another value every
 * thread takes the slow paths, since each allocation and release has to be looked at.
 *
 * Nothing is reported that could be right.  What is certain depends on what the tracer sees:
 *
 *   always      A pointer into the thread's own stack is no block.  That holds above the stack
 *               pointer and below it, where a function that frees last has taken its frame down.
 *               The stack lies between the limits of its mapping.  Where these are not known, only
 *               the frames of the call chain that frees count.  Other stacks, of coroutines and
 *               signal handlers, may be blocks themselves: nothing is certain there.
 *               A pointer into memory of the program or of a shared library that is not writable
 *               is no block: code, constants, string literals.
 *   the allocator is glibc's
 *               Nor is a pointer into the writable memory of a module.  Other allocators may have
 *               an arena there.  musl adds the rest of the variables' pages to its heap.  For
 *               operator delete it takes the C++ library's operators as well.
 *   the allocator is the C library's
 *               A pointer that is not even aligned for a word, inside a recorded block, is no block: no allocator
 *               aligns less.
 *   every allocation and every release is seen
 *               Then a record is never stale: an address that was released and not allocated since is
 *               free; a pointer inside a live block is not another block; and a live block was allocated by
 *               the function that its record says.
 *
 * Everything is seen when the program is static, its allocator is the C library's, all wraps are in place
 * (linker-flags.mk says so), no module was loaded since, and neither a block has come back unseen nor an unknown
 * one has been freed so far.  In a dynamic program any library may allocate, free and hand over blocks unseen.
 * Operators new and delete that the program brings along may be called past the wrap, and may be made of
 * malloc and free: then these are not told apart. */
#ifndef LEAKWRAP_MISUSE_H
#define LEAKWRAP_MISUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a block is allocated or released by. */
enum leakwrap_kind {
	LEAKWRAP_KIND_MALLOC, /* the C library's functions */
	LEAKWRAP_KIND_NEW,
	LEAKWRAP_KIND_ARRAY,     /* new[] */
	LEAKWRAP_KIND_ALLOCATOR, /* an allocator that the user named (wrapper.h) */
	LEAKWRAP_KIND_POOL,      /* leakwrap_record(), leakwrap_forget(): never judged */
};

enum leakwrap_misuse_what {
	LEAKWRAP_MISUSE_FREED,    /* the block had been released before */
	LEAKWRAP_MISUSE_INTERIOR, /* the pointer is inside a block */
	LEAKWRAP_MISUSE_STACK,    /* the pointer is on the thread's own stack */
	LEAKWRAP_MISUSE_STATIC,   /* the pointer is in a module's memory */
	LEAKWRAP_MISUSE_KIND,     /* the block was allocated by functions of another kind */
};

/* What is reported.  Call sites are numbers as in site_table.h, 0 when there is none to tell of. */
struct leakwrap_misuse {
	enum leakwrap_misuse_what what;
	bool resizes;          /* the offender is realloc or a relative, not a function that frees */
	uintptr_t pointer;     /* what it was given */
	enum leakwrap_kind by; /* its kind */
	uint32_t offender;     /* where from */
	uintptr_t block;       /* the block concerned, when there is one ... */
	size_t size;
	enum leakwrap_kind kind; /* ... its kind, when WHAT is LEAKWRAP_MISUSE_KIND */
	uint32_t allocated;
	uint32_t released; /* when WHAT is LEAKWRAP_MISUSE_FREED */
};

/* A release of BLOCK. */
struct leakwrap_release {
	uintptr_t block;
	enum leakwrap_kind kind;
	bool resizes;
	uint32_t offender;    /* the call site */
	uintptr_t pc, sp, fp; /* of the call chain, as in LEAKWRAP_CALLER */
};

/* Is misuse looked for?  Constant after the start. */
extern bool leakwrap_misuse_checked;

/* At start, when the option asks for it: misuse goes to REPORT, and then ends the program when
 * misuse=abort.  False when there is no memory for it. */
bool leakwrap_misuse_start(void (*report)(const struct leakwrap_misuse *misuse));

/* BLOCK is live, from call site SITE. */
void leakwrap_misuse_allocated(const void *block, uint32_t site, enum leakwrap_kind kind);

/* The release of a block that was recorded with SIZE and SITE, before the real call. */
void leakwrap_misuse_release(const struct leakwrap_release *release, size_t size, uint32_t site);

/* The release of what is not recorded.  False when nothing is known about it. */
bool leakwrap_misuse_release_unknown(const struct leakwrap_release *release);

/* A resize has failed: BLOCK is live as before. */
void leakwrap_misuse_kept(const void *block);

/* An allocator that the user named hands out malloc's own blocks: the two families may be mixed. */
void leakwrap_misuse_allocator_is_malloc(void);

/* A block was allocated or released unseen. */
void leakwrap_misuse_doubt(void);

#endif
