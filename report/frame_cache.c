/* frame_cache.c - see frame_cache.h.
 *
 * The cache is direct-mapped: each return address has one bucket, and evicts the address that was
 * in it.  A bucket holds the index of a frame.  Frames are numbered in the order in which they
 * come, so that the dump touches memory only for the frames that it stores. */
#include "report/frame_cache.h"

#include "report/frame_writer.h"
#include "wrap/port/port.h"
#include "wrap/unwind/trace.h"

#include <string.h>

/* There are twice as many buckets as frames, so that few frames are evicted. */
#define BUCKETS_BITS 15
#define FRAMES_MAX   ((1 << 14) - 1)

struct frame {
	uintptr_t pc;
	uint16_t size;                                         /* bytes of text */
	char text[256 - sizeof(uintptr_t) - sizeof(uint16_t)]; /* ends in LF */
};

/* The beginning of the line of a frame: the prefix and the level. */
struct head {
	uint8_t size; /* bytes of text; 0: not stored yet */
	char text[95];
};

/* The fewest bytes that a copy of text takes.  A copy of constant size is faster than one of the
 * exact size. */
#define COPY_MIN 64

/* Most of this memory is never touched. */
struct cache {
	struct head head[LEAKWRAP_MAX_DEPTH]; /* by level */
	uint16_t bucket[1 << BUCKETS_BITS];   /* the index of a frame; 0: none */
	uint16_t count;                       /* frames in use */
	_Alignas(256) struct frame frame[1 + FRAMES_MAX];
};

static struct cache *cache; /* NULL: no memory */

void leakwrap_frame_cache_start(void)
{
	cache = leakwrap_scratch_map(sizeof(*cache));
}

void leakwrap_frame_cache_end(void)
{
	if (cache)
		leakwrap_scratch_unmap(cache, sizeof(*cache));
	cache = NULL;
}

/* Returns the bucket of PC.  Fibonacci hashing spreads neighbouring addresses: the factor is 2^32
 * divided by the golden ratio. */
static uint16_t *bucket_of(uintptr_t pc)
{
	return &cache->bucket[(uint32_t)pc * 0x9e3779b9u >> (32 - BUCKETS_BITS)];
}

/* Begins the line of frame LEVEL, and stores its beginning if it is short enough. */
static void begin_and_store_head(struct leakwrap_writer *writer, unsigned level)
{
	struct head *head = &cache->head[level];

	leakwrap_frame_begin(writer, level);
	if (writer->line > sizeof(head->text))
		return;
	head->size = (uint8_t)writer->line;
	memcpy(head->text, leakwrap_text_line(writer), writer->line);
}

/* Copies SIZE bytes of TEXT to TO, and at least COPY_MIN bytes. */
static inline void copy(char *to, const char *text, size_t size)
{
	memcpy(to, text, COPY_MIN);
	if (leakwrap_unlikely(size > COPY_MIN))
		memcpy(to + COPY_MIN, text + COPY_MIN, size - COPY_MIN);
}

/* Writes the line of FRAME piece by piece.  Called if the beginning of the line is not stored, or
 * if the writer has no room for the whole line. */
static __attribute__((noinline)) void write_in_parts(struct leakwrap_writer *writer, unsigned level,
                                                     const struct frame *frame)
{
	begin_and_store_head(writer, level);
	leakwrap_text_bytes(writer, frame->text, frame->size - 1u);
	leakwrap_text_end(writer);
}

bool leakwrap_frame_cache_write(struct leakwrap_writer *writer, unsigned level, uintptr_t pc)
{
	const struct frame *frame = cache ? &cache->frame[*bucket_of(pc)] : NULL;
	const struct head *head;
	char *line;

	if (!frame || frame->pc != pc || frame->size == 0)
		return false;
	head = &cache->head[level];
	line = NULL;
	if (head->size > 0)
		line = leakwrap_text_add_line(writer, (size_t)head->size + frame->size, COPY_MIN);
	if (leakwrap_likely(line)) {
		copy(line, head->text, head->size);
		copy(line + head->size, frame->text, frame->size);
	} else {
		write_in_parts(writer, level, frame);
	}
	return true;
}

void leakwrap_frame_cache_store(uintptr_t pc, const char *text, size_t size)
{
	uint16_t *bucket = cache ? bucket_of(pc) : NULL;
	struct frame *frame;

	if (!bucket || size >= sizeof(frame->text) || (*bucket == 0 && cache->count == FRAMES_MAX))
		return;
	if (*bucket == 0)
		*bucket = ++cache->count;
	frame = &cache->frame[*bucket];
	frame->pc = pc;
	frame->size = (uint16_t)(size + 1);
	memcpy(frame->text, text, size);
	frame->text[size] = '\n';
}
