/* frame_cache.c - see frame_cache.h.  A direct-mapped cache: each address has one place, which it takes from another.  The
 * texts lie one behind the other, so that memory is touched only for the frames that there are. */
#include "report/frame_cache.h"

#include "report/frame_writer.h"
#include "wrap/port/port.h"
#include "wrap/unwind/unwind.h"

#include <string.h>

/* Twice as many places as frames, so that few have to give way. */
#define PLACES_BITS 15
#define FRAMES_MAX  ((1 << 14) - 1)

struct frame {
	uintptr_t pc;
	uint16_t size;
	char text[256 - sizeof(uintptr_t) - sizeof(uint16_t)]; /* the end of the line, too */
};

/* How the line of a frame begins. */
struct head {
	uint8_t size; /* 0: not known yet */
	char text[95];
};

/* Texts are copied by as many bytes at least: that is faster than to copy those that there are. */
#define COPIED 64

/* All that is known.  Most of it is never touched. */
struct known {
	struct head head[LEAKWRAP_MAX_DEPTH]; /* by level */
	uint16_t place[1 << PLACES_BITS];     /* the number of a frame; 0: none */
	uint16_t count;
	_Alignas(256) struct frame frame[1 + FRAMES_MAX]; /* by number */
};

static struct known *known; /* NULL: no memory */

void leakwrap_frame_cache_start(void)
{
	known = leakwrap_scratch_map(sizeof(*known));
}

void leakwrap_frame_cache_end(void)
{
	if (known)
		leakwrap_scratch_unmap(known, sizeof(*known));
	known = NULL;
}

/* Fibonacci hashing: neighbours come apart. */
static uint16_t *place_of(uintptr_t pc)
{
	return &known->place[(uint32_t)pc * 0x9e3779b9u >> (32 - PLACES_BITS)];
}

/* Begins the line of a frame LEVEL, and keeps its beginning. */
static void begin(struct leakwrap_writer *writer, unsigned level)
{
	struct head *head = &known->head[level];

	leakwrap_frame_begin(writer, level);
	if (writer->line > sizeof(head->text))
		return;
	head->size = (uint8_t)writer->line;
	memcpy(head->text, leakwrap_text_line(writer), writer->line);
}

/* Copies SIZE bytes, and perhaps others behind them. */
static inline void copy(char *to, const char *text, size_t size)
{
	memcpy(to, text, COPIED);
	if (leakwrap_unlikely(size > COPIED))
		memcpy(to + COPIED, text + COPIED, size - COPIED);
}

/* Where the beginning of the line is not known yet, or the writer has no room for the whole line at once. */
static __attribute__((noinline)) void write_in_parts(struct leakwrap_writer *writer, unsigned level,
                                                     const struct frame *frame)
{
	begin(writer, level);
	leakwrap_text_bytes(writer, frame->text, frame->size - 1u);
	leakwrap_text_end(writer);
}

bool leakwrap_frame_cache_write(struct leakwrap_writer *writer, unsigned level, uintptr_t pc)
{
	const struct frame *frame = known ? &known->frame[*place_of(pc)] : NULL;
	const struct head *head;
	char *line;

	if (!frame || frame->pc != pc || frame->size == 0)
		return false;
	head = &known->head[level];
	line = head->size == 0 ? NULL
	                       : leakwrap_text_whole(writer, (size_t)head->size + frame->size, COPIED);
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
	uint16_t *place = known ? place_of(pc) : NULL;
	struct frame *frame;

	if (!place || size >= sizeof(frame->text) || (*place == 0 && known->count == FRAMES_MAX))
		return;
	if (*place == 0)
		*place = ++known->count;
	frame = &known->frame[*place];
	frame->pc = pc;
	frame->size = (uint16_t)(size + 1);
	memcpy(frame->text, text, size);
	frame->text[size] = '\n';
}
