/* misuse_text.c - see misuse_text.h. */
#include "misuse_text.h"

#include "frames.h"
#include "modules.h"
#include "port.h"
#include "sites.h"
#include "symbols.h"

#include <string.h>

static void number(struct leakwrap_writer *writer, const char *before, uint64_t value)
{
	leakwrap_text(writer, before);
	leakwrap_text_number(writer, value);
}

static void address(struct leakwrap_writer *writer, const char *before, uintptr_t value)
{
	leakwrap_text(writer, before);
	leakwrap_text_hex(writer, value);
}

/* A backtrace of a release begins in the tracer itself (record.c). */
static bool is_own_frame(uintptr_t pc)
{
	const struct leakwrap_module *module = leakwrap_module_at(pc - 1);
	uintptr_t offset;
	const char *function = module ? leakwrap_symbol(module, pc - 1, &offset) : NULL;

	return function &&
	       (strncmp(function, "__wrap_", 7) == 0 || strncmp(function, "leakwrap_", 9) == 0 ||
	        strcmp(function, "release_slowly") == 0);
}

static void write_stack(struct leakwrap_writer *writer, uint32_t number_of_site)
{
	uint32_t limit;
	const struct leakwrap_site *site = leakwrap_sites(&limit);
	unsigned first = 0;

	while (site && site->number != number_of_site)
		site = site->next;
	if (!site) {
		leakwrap_text(writer, "  (its stack is not known)");
		leakwrap_text_end(writer);
		return;
	}
	while (first + 1u < site->depth && is_own_frame(site->pcs[first]))
		first++;
	for (unsigned level = first; level < site->depth; level++)
		leakwrap_frame_write(writer, level - first, site->pcs[level], true);
}

static const char *function_of(const struct leakwrap_misuse *misuse)
{
	static const char *const functions[] = {
	        [LEAKWRAP_KIND_MALLOC] = "free",
	        [LEAKWRAP_KIND_NEW] = "operator delete",
	        [LEAKWRAP_KIND_ARRAY] = "operator delete[]",
	};

	return misuse->resizes ? "realloc" : functions[misuse->by];
}

void leakwrap_misuse_write(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse)
{
	static const char *const kinds[] = {
	        [LEAKWRAP_KIND_MALLOC] = "malloc or a relative",
	        [LEAKWRAP_KIND_NEW] = "operator new",
	        [LEAKWRAP_KIND_ARRAY] = "operator new[]",
	};
	static const char *const names[] = {
	        [LEAKWRAP_MISUSE_FREED] = "double free of ",
	        [LEAKWRAP_MISUSE_INTERIOR] = "interior pointer ",
	        [LEAKWRAP_MISUSE_STACK] = "pointer into the stack ",
	        [LEAKWRAP_MISUSE_KIND] = "mismatched release of ",
	};
	bool is_use_of_freed = misuse->what == LEAKWRAP_MISUSE_FREED && misuse->resizes;

	number(writer, "misuse in process ", (uint64_t)leakwrap_process_id());
	number(writer, ", thread ", (uint64_t)leakwrap_thread_id());
	leakwrap_text(writer, ": ");
	address(writer, is_use_of_freed ? "freed block " : names[misuse->what], misuse->pointer);
	leakwrap_text(writer, ", in ");
	leakwrap_text(writer, function_of(misuse));
	leakwrap_text_end(writer);
	write_stack(writer, misuse->offender);
	if (misuse->what == LEAKWRAP_MISUSE_FREED) {
		leakwrap_text(writer, "it was released before");
		leakwrap_text_end(writer);
		write_stack(writer, misuse->released);
	}
	if (misuse->block) {
		number(writer, "a block of ", misuse->size);
		address(writer, misuse->size == 1 ? " byte at " : " bytes at ", misuse->block);
		leakwrap_text(writer, ", allocated");
		if (misuse->what == LEAKWRAP_MISUSE_KIND) {
			leakwrap_text(writer, " by ");
			leakwrap_text(writer, kinds[misuse->kind]);
		}
		leakwrap_text_end(writer);
		write_stack(writer, misuse->allocated);
	}
	leakwrap_text(writer, "end of misuse");
	leakwrap_text_end(writer);
}
