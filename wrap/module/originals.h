/* originals.h - the allocator behind the functions that a program exports in its place.
 *
 * A dynamic program that is linked with the process variants of the malloc family (entry/define.h)
 * defines malloc, free and their relatives itself, and _exit (entry/exit.c).  Then no name leads to
 * the original functions.  They are found in the loader's list: as the loader would have found them
 * without our definitions.  An allocator that the program has in an archive, in a shared library or
 * by LD_PRELOAD keeps its place.
 */
#ifndef LEAKWRAP_ORIGINALS_H
#define LEAKWRAP_ORIGINALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

struct leakwrap_originals {
	void *(*malloc)(size_t size);
	void (*free)(void *block);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *block, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	int (*posix_memalign)(void **block, size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
	void (*_exit)(int status);
	void (*_Exit)(int status);
	/* glibc's _dl_find_object, since 2.35; else NULL.  It fills a struct dl_find_object and
	 * returns 0, or -1 if no module holds ADDRESS.  Takes no lock; signal-safe. */
	int (*find_object)(void *address, void *object);
	/* The module that has the original malloc. */
	uintptr_t allocator_start, allocator_end;
	bool are_found; /* the members of this structure are set, and never change */
	/* The libraries' calls of malloc come to the tracer: the program exports the process
	 * variants, and has no malloc of its own. */
	bool malloc_is_exported;
};

/* Zero before leakwrap_originals_find.  A thread that records has found them. */
extern LEAKWRAP_HIDDEN struct leakwrap_originals leakwrap_originals;

/* Marks a program that is linked with the process variants.  Missing in others. */
extern const char leakwrap_has_process_variants __attribute__((weak));

/* Finds the originals, once, if the program is linked with the process variants.  Allocates
 * nothing.  Ends the process, with a message, if there is no malloc, free, calloc or realloc.  An
 * original that is missing otherwise fails when it is called.  Not signal-safe when called for the
 * first time, which is at the start. */
void leakwrap_originals_find(void);

/* Finds the originals if they are not found yet. */
LEAKWRAP_INLINE void leakwrap_originals_need(void)
{
	if (leakwrap_unlikely(!leakwrap_originals.are_found))
		leakwrap_originals_find();
}

/* Returns whether this tracer is part of a shared object, while the program has a tracer of its own
 * that records the calls of shared libraries.  Takes the loader's lock: not signal-safe. */
bool leakwrap_program_traces_us(void);

/* Whether this tracer leaves everything to the program's (leakwrap_program_traces_us).  The runtime
 * sets it once at its start. */
#ifndef LEAKWRAP_BARE
extern LEAKWRAP_HIDDEN bool leakwrap_stands_aside;
#else
#define leakwrap_stands_aside false
#endif

/* Whether the calls that shared libraries make are recorded, too.  The runtime sets it once at its
 * start: they are if malloc is exported and the option libraries= is 1. */
extern LEAKWRAP_HIDDEN bool leakwrap_libraries_are_recorded;

/* Returns the address of our function of the allocator that the program exports as NAME.  Returns 0
 * if it exports no such function of ours.  Signal-safe. */
uintptr_t leakwrap_exported_function(const char *name);

#endif
