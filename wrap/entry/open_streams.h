/* open_streams.h - the open streams whose buffer becomes the program's when they are closed.
 *
 * Like stdio itself, not for signal handlers.  No function changes errno or takes a lock. */
#ifndef LEAKWRAP_OPEN_STREAMS_H
#define LEAKWRAP_OPEN_STREAMS_H

#include <stddef.h>
#include <stdio.h>

/* The arguments of open_memstream or open_wmemstream. */
struct leakwrap_memstream {
	void *const *buffer; /* where fclose stores the buffer; NULL: no memory stream */
	const size_t *size;  /* where it stores the length in units, without terminator */
	size_t unit;         /* sizeof(char) or sizeof(wchar_t) */
};

/* Stores STREAM and its arguments until the stream is closed.  With STREAM NULL does nothing.
 * Counts an untracked block if too many streams are open. */
void leakwrap_memstream_add(FILE *stream, struct leakwrap_memstream arguments);

/* Removes STREAM, before fclose(STREAM).  Returns its arguments, or all zero if STREAM is no memory
 * stream. */
struct leakwrap_memstream leakwrap_memstream_take(FILE *stream);

#endif
