/* open_streams.h - which streams write into memory that becomes the program's when they are closed. */
#ifndef LEAKWRAP_OPEN_STREAMS_H
#define LEAKWRAP_OPEN_STREAMS_H

#include <stddef.h>
#include <stdio.h>

/* What open_memstream or open_wmemstream was told. */
struct leakwrap_memstream {
	void *const *buffer; /* where fclose puts the buffer; NULL: not such a stream */
	const size_t *size;  /* and its length in units, without the terminator */
	size_t unit;         /* sizeof(char) or sizeof(wchar_t) */
};

/* Remembers STREAM (NULL: nothing happens) until it is closed. */
void leakwrap_memstream_opened(FILE *stream, struct leakwrap_memstream what);

/* Before fclose(STREAM): forgets STREAM and returns what is known of it. */
struct leakwrap_memstream leakwrap_memstream_closing(FILE *stream);

#endif
