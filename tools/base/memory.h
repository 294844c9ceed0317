/* memory.h - memory that is there, or the tool ends.
 *
 * A command lives as long as the process.  What it keeps comes from an arena and is released at
 * once.  Only buffers that are reused are freed one by one.
 */
#ifndef TOOLS_BASE_MEMORY_H
#define TOOLS_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* Do what malloc, calloc and strdup do, but never return NULL. */
void *xmalloc(size_t size);
void *xzalloc(size_t size); /* zero-filled */
char *xstrdup(const char *text);

/* Does what realloc does, but never returns NULL.  It is not static, although the tool calls it in
 * memory.c alone: libiberty calls xmalloc and xrealloc, and defines both in one file.  The link
 * fails if it takes in that file for one of them. */
void *xrealloc(void *block, size_t size);

/* Makes room for NEEDED elements in VECTOR, which has room for *CAPACITY elements of SIZE bytes.
 * Returns the vector, which may have moved. */
void *grow(void *vector, size_t *capacity, size_t needed, size_t size);

#define GROW(vector, capacity, needed) \
	((vector) = grow((vector), &(capacity), (needed), sizeof *(vector)))

/* Memory that is freed all at once.  An arena of zeros is empty. */
struct arena {
	struct arena_chunk *chunk;
	size_t used;
};

/* Returns SIZE bytes of zeros, aligned for any object. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_copy(struct arena *arena, const char *text, size_t length);
char *arena_format(struct arena *arena, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

/* Frees everything allocated, but keeps a chunk for the next allocations. */
void arena_reset(struct arena *arena);
void arena_free(struct arena *arena);

/* Opens a stream whose bytes come to *BYTES when it is closed, *SIZE of them with a NUL behind.
 * The caller frees them. */
FILE *open_bytes(char **bytes, size_t *size);

#endif
