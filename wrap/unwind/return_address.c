/* return_address.c - see return_address.h. */
#include "wrap/unwind/return_address.h"

#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"

#include <elf.h>
#include <string.h>

const struct leakwrap_module *leakwrap_text_at(uintptr_t pc, bool interrupted)
{
	uintptr_t code = interrupted ? pc : pc - 1;
	const struct leakwrap_module *module = leakwrap_module_at(code);

	return module && leakwrap_module_text(module, code) &&
	                       (module->is_permanent || leakwrap_module_is_there(module))
	               ? module
	               : NULL;
}

struct leakwrap_code leakwrap_code_of(const struct leakwrap_module *module, uintptr_t word)
{
	const uintptr_t address = LEAKWRAP_STRIP(word);
	const struct leakwrap_text *text = leakwrap_module_text(module, address - 1);
	struct leakwrap_code code = {.thumb = LEAKWRAP_HAVE_ARM_FRAMES && (word & 1) != 0};

	/* A return address may equal the segment's end; a function may begin at the segment's
	 * start. */
	if (!text)
		text = leakwrap_module_text(module, address);
	if (text && !text->is_only_executed) {
		code.low = text->start;
		code.high = text->end;
	}
	return code;
}

#ifndef LEAKWRAP_BARE

/* Pages of a module's data that are searched at most. */
#define PAGES_MAX 2048u

/* Inserts POINTER into the sorted POINTERS, the largest first.  Drops the smallest, or a
 * duplicate. */
static void insert(uintptr_t pointer, uintptr_t *pointers, unsigned count)
{
	for (unsigned i = 0; i < count && pointer != pointers[i]; i++)
		if (pointer > pointers[i]) {
			const uintptr_t smaller = pointers[i];

			pointers[i] = pointer;
			pointer = smaller;
		}
}

void leakwrap_pointers_before(const struct leakwrap_module *module, uintptr_t pc,
                              uintptr_t distance, uintptr_t *pointers, unsigned count)
{
	unsigned pages = 0;

	memset(pointers, 0, count * sizeof(*pointers));
	for (uintptr_t page = module->start & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
	     page < module->end && pages < PAGES_MAX; page += LEAKWRAP_PAGE) {
		const struct leakwrap_text *text = leakwrap_module_text(module, page);
		const uintptr_t *word = (const uintptr_t *)page;

		if (text) {
			page = (text->end - 1) & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
			continue;
		}
		/* The program may have unmapped a part of its data. */
		pages++;
		if (!leakwrap_readable(page))
			continue;
		for (; word < (const uintptr_t *)(page + LEAKWRAP_PAGE); word++)
			if (pc - LEAKWRAP_STRIP(*word) - 1 < distance)
				insert(LEAKWRAP_STRIP(*word), pointers, count);
	}
}

#endif

#ifndef LEAKWRAP_BARE

/* Linkers define them for a section with such a name. */
extern const char __start_leakwrap_own_code[] __attribute__((visibility("hidden")));
extern const char __stop_leakwrap_own_code[] __attribute__((visibility("hidden")));

/* Stands in the section from the start, so that there is one where objcopy is missing. */
LEAKWRAP_OWN_CODE bool leakwrap_is_own_return(uintptr_t word)
{
	const uintptr_t start = (uintptr_t)__start_leakwrap_own_code;

	return LEAKWRAP_STRIP(word) - start - 1 < (uintptr_t)__stop_leakwrap_own_code - start;
}

/* musl's loader is its C library, too, which calls by stubs of its own what a program replaces. */
bool leakwrap_is_loaders_return(uintptr_t word, uintptr_t target, uintptr_t pc)
{
#ifdef __GLIBC__
	const struct leakwrap_module *const module =
	        target != 0 ? leakwrap_module_at(LEAKWRAP_STRIP(word) - 1) : NULL;

	return module && module->bias == (uintptr_t)leakwrap_auxiliary(AT_BASE) &&
	       module->bias != 0 && module != leakwrap_module_at(pc);
#else
	(void)word, (void)target, (void)pc;
	return false;
#endif
}

#endif

bool leakwrap_is_return(uintptr_t word, uintptr_t *target)
{
	uintptr_t pc = LEAKWRAP_STRIP(word);
	const struct leakwrap_module *module = leakwrap_text_at(pc, false);
	struct leakwrap_code code;

	if (!module)
		return false;
	code = leakwrap_code_of(module, word);
	return leakwrap_call_before(&code, pc, target) != 0;
}
