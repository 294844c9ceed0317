/* frame_writer.c - see frame_writer.h. */
#include "report/frame_writer.h"

#include "report/elf_symbols.h"
#include "report/frame_cache.h"
#include "wrap/module/registry.h"

#include <string.h>

/* The most bytes of output that a function's name takes. */
#define NAME_LIMIT 2048

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Begins the line of frame LEVEL: writes the part that depends on the frame's level alone. */
static void begin_frame(struct leakwrap_writer *writer, unsigned level)
{
	/* One call writes "  #", the number and a space together: a dump may have a million
	 * frames. */
	char buffer[3 + 21];
	char *end = buffer + sizeof(buffer);
	char *head = leakwrap_decimal(buffer, sizeof(buffer), level);

	*--head = '#';
	*--head = ' ';
	*--head = ' ';
	end[-1] = ' ';
	leakwrap_write_bytes(writer, head, (size_t)(end - head));
}

/* Writes what follows the level: this text is equal in all lines with this PC.  See
 * leakwrap_frame_write. */
static const struct leakwrap_module *write_location(struct leakwrap_writer *writer, uintptr_t pc,
                                                    bool is_return,
                                                    const struct leakwrap_module *gone)
{
	const uintptr_t code = pc - is_return;
	const struct leakwrap_module *module = gone ? gone : leakwrap_module_ever_at(code);
	const char *function = NULL;
	uintptr_t offset;

	leakwrap_write_hex(writer, pc);
	if (module)
		function = leakwrap_symbol(module, code, &offset);
	if (function) {
		leakwrap_write_text(writer, " ");
		leakwrap_write_name(writer, function, NAME_LIMIT);
		leakwrap_write_text(writer, "+");
		leakwrap_write_hex(writer, offset + is_return);
	} else {
		leakwrap_write_text(writer, " ?");
	}
	if (module) {
		leakwrap_write_text(writer, " [");
		leakwrap_write_number(writer, module->number);
		leakwrap_write_text(writer, "] ");
		leakwrap_write_name(writer, last_component(module->path), NAME_LIMIT / 2);
		leakwrap_write_text(writer, "+");
		leakwrap_write_hex(writer, pc - module->bias);
	}
	if (!is_return)
		leakwrap_write_text(writer, " exact=1");
	return module;
}

const struct leakwrap_module *leakwrap_frame_write(struct leakwrap_writer *writer, unsigned level,
                                                   uintptr_t pc, bool is_return,
                                                   const struct leakwrap_module *gone)
{
	const struct leakwrap_module *module;
	size_t before;

	begin_frame(writer, level);
	before = writer->line;
	module = write_location(writer, pc, is_return, gone);
	if (is_return && !gone && !writer->is_cut)
		leakwrap_frame_cache_store(pc, leakwrap_writer_line(writer) + before,
		                           writer->line - before);
	leakwrap_write_end(writer);
	return module;
}

/* -- stored frames ----------------------------------------------------------------------------- */

#ifndef LEAKWRAP_BARE

/* The fewest bytes that a copy of text takes.  A copy of constant size is faster than one of the
 * exact size. */
#define COPY_MIN 64

/* Begins the line of frame LEVEL, and stores its beginning in HEAD if it is short enough. */
static void begin_and_store_head(struct leakwrap_writer *writer, unsigned level,
                                 struct leakwrap_cached_head *head)
{
	begin_frame(writer, level);
	if (writer->line > sizeof(head->text))
		return;
	head->size = (uint8_t)writer->line;
	memcpy(head->text, leakwrap_writer_line(writer), writer->line);
}

/* Copies SIZE bytes of TEXT to TO, and at least COPY_MIN bytes. */
static inline void copy(char *to, const char *text, size_t size)
{
	memcpy(to, text, COPY_MIN);
	if (leakwrap_unlikely(size > COPY_MIN))
		memcpy(to + COPY_MIN, text + COPY_MIN, size - COPY_MIN);
}

/* Writes the line of FRAME piece by piece.  Called if the beginning of the line is not stored in
 * HEAD, or if the writer has no room for the whole line. */
static __attribute__((noinline)) void write_in_parts(struct leakwrap_writer *writer, unsigned level,
                                                     struct leakwrap_cached_head *head,
                                                     const struct leakwrap_cached_frame *frame)
{
	begin_and_store_head(writer, level, head);
	leakwrap_write_bytes(writer, frame->text, frame->size - 1u);
	leakwrap_write_end(writer);
}

bool leakwrap_frame_write_stored(struct leakwrap_writer *writer, unsigned level, uintptr_t pc)
{
	const struct leakwrap_cached_frame *frame = leakwrap_frame_cache_find(pc);
	struct leakwrap_cached_head *head;
	char *line = NULL;

	if (!frame)
		return false;
	head = &leakwrap_frame_cache->head[level];
	if (head->size > 0)
		line = leakwrap_writer_add_line(writer, (size_t)head->size + frame->size, COPY_MIN);
	if (leakwrap_likely(line)) {
		copy(line, head->text, head->size);
		copy(line + head->size, frame->text, frame->size);
	} else {
		write_in_parts(writer, level, head, frame);
	}
	return true;
}

#endif
