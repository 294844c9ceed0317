/* misuse_writer.c - see misuse_writer.h. */
#include "report/misuse_writer.h"

#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/site/site_read.h"
#include "wrap/site/site_table.h"
#include "report/elf_symbols.h"
#include "wrap/unwind/trace.h"

#include <string.h>

/* Returns whether the call before the return address PC is in a function of the tracer.  The
 * backtrace of a release begins in such functions, which all have one of these prefixes. */
static bool is_tracer_frame(uintptr_t pc)
{
	const struct leakwrap_module *module = leakwrap_module_at(pc - 1);
	uintptr_t offset;
	const char *function = module ? leakwrap_symbol(module, pc - 1, &offset) : NULL;

	return function &&
	       (strncmp(function, "__wrap_", 7) == 0 || strncmp(function, "leakwrap_", 9) == 0);
}

/* Reads the backtrace of the call site NUMBER into TRACE and writes it without the tracer's frames.
 * Writes nothing if there was no memory to record the backtrace. */
static void write_stack(uint32_t number, leakwrap_write_trace *write_trace,
                        struct leakwrap_trace *trace)
{
	unsigned first = 0;

	if (number < LEAKWRAP_SITE_FIRST || number >= leakwrap_sites_limit())
		return;
	leakwrap_site_read(number, trace);
	while (first + 1u < trace->depth && is_tracer_frame(trace->pcs[first]))
		first++;
	write_trace(trace, first);
}

/* Returns the name of the function that released wrongly. */
static const char *releasing_function(const struct leakwrap_misuse *misuse)
{
	static const char *const functions[] = {
	        [LEAKWRAP_FAMILY_MALLOC] = "free",
	        [LEAKWRAP_FAMILY_LIBRARY] = "free",
	        [LEAKWRAP_FAMILY_NEW] = "operator delete",
	        [LEAKWRAP_FAMILY_ARRAY] = "operator delete[]",
	        [LEAKWRAP_FAMILY_ALLOCATOR] = "allocator",
	};

	return misuse->resizes ? "realloc" : functions[misuse->by];
}

static void write_release(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse)
{
	static const char *const names[] = {
	        [LEAKWRAP_MISUSE_FREED] = "double_free",
	        [LEAKWRAP_MISUSE_INTERIOR] = "interior_pointer",
	        [LEAKWRAP_MISUSE_STACK] = "stack_pointer",
	        [LEAKWRAP_MISUSE_STATIC] = "static_pointer",
	        [LEAKWRAP_MISUSE_MISMATCH] = "mismatch",
	};

	leakwrap_write_text(writer, "misuse ");
	leakwrap_write_text(writer, names[misuse->what]);
	leakwrap_write_text(writer, " pointer=");
	leakwrap_write_hex(writer, misuse->pointer);
	leakwrap_write_text(writer, " thread=");
	leakwrap_write_number(writer, (uint64_t)leakwrap_thread_id());
	leakwrap_write_text(writer, " function=");
	leakwrap_write_text(writer, releasing_function(misuse));
	leakwrap_write_end(writer);
}

static void write_block(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse)
{
	static const char *const functions[] = {
	        [LEAKWRAP_FAMILY_MALLOC] = "malloc",
	        [LEAKWRAP_FAMILY_LIBRARY] = "malloc",
	        [LEAKWRAP_FAMILY_NEW] = "operator new",
	        [LEAKWRAP_FAMILY_ARRAY] = "operator new[]",
	        [LEAKWRAP_FAMILY_ALLOCATOR] = "allocator",
	};

	leakwrap_write_text(writer, "misuse block address=");
	leakwrap_write_hex(writer, misuse->block);
	leakwrap_write_text(writer, " bytes=");
	leakwrap_write_number(writer, misuse->size);
	if (misuse->what == LEAKWRAP_MISUSE_MISMATCH) {
		leakwrap_write_text(writer, " function=");
		leakwrap_write_text(writer, functions[misuse->family]);
	}
	leakwrap_write_end(writer);
}

void leakwrap_misuse_write(struct leakwrap_writer *writer, const struct leakwrap_misuse *misuse,
                           leakwrap_write_trace *write_trace, struct leakwrap_trace *trace)
{
	write_release(writer, misuse);
	write_stack(misuse->offender, write_trace, trace);
	if (misuse->what == LEAKWRAP_MISUSE_FREED) {
		leakwrap_write_text(writer, "misuse released");
		leakwrap_write_end(writer);
		write_stack(misuse->released, write_trace, trace);
	}
	if (misuse->block) {
		write_block(writer, misuse);
		write_stack(misuse->allocated, write_trace, trace);
	}
}
