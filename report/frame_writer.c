/* frame_writer.c - see frame_writer.h. */
#include "report/frame_writer.h"

#include "report/frame_cache.h"
#include "report/elf_symbols.h"

#include <string.h>

/* The most bytes of output that a function's name takes. */
#define NAME_LIMIT 2048

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void leakwrap_frame_begin(struct leakwrap_writer *writer, unsigned level)
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
	leakwrap_text_bytes(writer, head, (size_t)(end - head));
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

	leakwrap_text_hex(writer, pc);
	if (module)
		function = leakwrap_symbol(module, code, &offset);
	if (function) {
		leakwrap_text(writer, " ");
		leakwrap_text_name(writer, function, NAME_LIMIT);
		leakwrap_text(writer, "+");
		leakwrap_text_hex(writer, offset + is_return);
	} else {
		leakwrap_text(writer, " ?");
	}
	if (module) {
		leakwrap_text(writer, " [");
		leakwrap_text_number(writer, module->number);
		leakwrap_text(writer, "] ");
		leakwrap_text_name(writer, last_component(module->path), NAME_LIMIT / 2);
		leakwrap_text(writer, "+");
		leakwrap_text_hex(writer, pc - module->bias);
	}
	if (!is_return)
		leakwrap_text(writer, " exact=1");
	return module;
}

const struct leakwrap_module *leakwrap_frame_write(struct leakwrap_writer *writer, unsigned level,
                                                   uintptr_t pc, bool is_return,
                                                   const struct leakwrap_module *gone)
{
	const struct leakwrap_module *module;
	size_t before;

	leakwrap_frame_begin(writer, level);
	before = writer->line;
	module = write_location(writer, pc, is_return, gone);
	if (is_return && !gone && !writer->cut)
		leakwrap_frame_cache_store(pc, leakwrap_text_line(writer) + before,
		                           writer->line - before);
	leakwrap_text_end(writer);
	return module;
}
