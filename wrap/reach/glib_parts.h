/* glib_parts.h - pointers into a block by which GLib holds it. */
#ifndef LEAKWRAP_GLIB_PARTS_H
#define LEAKWRAP_GLIB_PARTS_H

#include "wrap/base/common.h"
#include "wrap/reach/is_readable.h"

#ifndef LEAKWRAP_BARE

/* Returns whether POINTER, which leads into the block of SIZE bytes at BLOCK, is one of these:
 *
 *   - to an instance of GObject, behind its private data
 *   - to a fundamental type, behind what only such types have
 *   - to a GClosure, behind its private data
 *   - to anything in a slab of g_slice_alloc(), from which GLib before 2.76 hands out small blocks
 *
 * What interior.c reads of the block can be read.  Asks IS_READABLE before it reads more. */
bool leakwrap_is_glib_interior(uintptr_t block, size_t size, uintptr_t pointer,
                               leakwrap_is_readable *is_readable);

#else

/* GLib needs an operating system. */
LEAKWRAP_INLINE bool leakwrap_is_glib_interior(uintptr_t block, size_t size, uintptr_t pointer,
                                               leakwrap_is_readable *is_readable)
{
	(void)block, (void)size, (void)pointer, (void)is_readable;
	return false;
}

#endif

#endif
