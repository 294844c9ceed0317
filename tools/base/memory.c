/* memory.c - see memory.h. */
#include "tools/base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/messages.h"

void *xmalloc(size_t size)
{
	return xrealloc(NULL, size);
}

void *xrealloc(void *block, size_t size)
{
	void *moved = realloc(block, size ? size : 1);
	if (!moved)
		die("out of memory");
	return moved;
}

void *xzalloc(size_t size)
{
	void *block = calloc(1, size ? size : 1);
	if (!block)
		die("out of memory");
	return block;
}

char *xstrdup(const char *text)
{
	size_t size = strlen(text) + 1;
	return memcpy(xmalloc(size), text, size);
}

void *grow(void *vector, size_t *capacity, size_t needed, size_t size)
{
	if (needed <= *capacity)
		return vector;
	size_t more = *capacity ? *capacity : 16;
	while (more < needed)
		if (__builtin_mul_overflow(more, 2, &more))
			die("out of memory");
	size_t bytes;
	if (__builtin_mul_overflow(more, size, &bytes))
		die("out of memory");
	*capacity = more;
	return xrealloc(vector, bytes);
}

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	max_align_t bytes[];
};

/* Thousands of arenas may hold little: the first chunk is small. */
enum { ARENA_FIRST_CHUNK = 256, ARENA_CHUNK = 64 * 1024 };

void *arena_alloc(struct arena *arena, size_t size)
{
	const size_t align = sizeof(max_align_t);

	if (size > SIZE_MAX - ARENA_CHUNK)
		die("out of memory");
	size = (size + align - 1) / align * align;
	if (!arena->chunk || arena->chunk->size - arena->used < size) {
		size_t room = arena->chunk ? 2 * arena->chunk->size : ARENA_FIRST_CHUNK;
		if (room > ARENA_CHUNK)
			room = ARENA_CHUNK;
		if (room < size)
			room = size;
		struct arena_chunk *chunk = xmalloc(sizeof *chunk + room);
		chunk->next = arena->chunk;
		chunk->size = room;
		arena->chunk = chunk;
		arena->used = 0;
	}
	void *block = (char *)arena->chunk->bytes + arena->used;
	arena->used += size;
	return memset(block, 0, size);
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);
	memcpy(copy, text, length);
	return copy;
}

char *arena_format(struct arena *arena, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = NULL;
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		die("out of memory");
	char *copy = arena_copy(arena, text, (size_t)length);
	free(text);
	return copy;
}

void arena_reset(struct arena *arena)
{
	if (!arena->chunk)
		return;
	while (arena->chunk->next) {
		struct arena_chunk *next = arena->chunk->next;
		free(arena->chunk);
		arena->chunk = next;
	}
	arena->used = 0;
}

void arena_free(struct arena *arena)
{
	arena_reset(arena);
	free(arena->chunk);
	arena->chunk = NULL;
}

FILE *open_bytes(char **bytes, size_t *size)
{
	FILE *stream = open_memstream(bytes, size);
	if (!stream)
		die("out of memory");
	return stream;
}
