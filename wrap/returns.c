/* returns.c - see returns.h. */
#include "returns.h"

#include "arch/arch.h"
#include "prologue.h"

const struct leakwrap_module *leakwrap_text_at(uintptr_t pc, bool interrupted)
{
	uintptr_t code = interrupted ? pc : pc - 1;
	const struct leakwrap_module *module = leakwrap_module_at(code);

	return module && leakwrap_module_text(module, code) &&
	                       (module->permanent || leakwrap_module_is_there(module))
	               ? module
	               : NULL;
}

struct leakwrap_code leakwrap_code_of(const struct leakwrap_module *module, uintptr_t word)
{
	const uintptr_t address = LEAKWRAP_STRIP(word);
	const struct leakwrap_text *text = leakwrap_module_text(module, address - 1);
	struct leakwrap_code code = {.thumb = LEAKWRAP_HAVE_ARM_FRAMES && (word & 1) != 0};

	/* A return address may be that of the segment's end, a function its start. */
	if (!text)
		text = leakwrap_module_text(module, address);
	if (text && !text->only_runs) {
		code.low = text->start;
		code.high = text->end;
	}
	return code;
}

bool leakwrap_is_return(uintptr_t word, uintptr_t *target)
{
	uintptr_t pc = LEAKWRAP_STRIP(word);
	const struct leakwrap_module *module = leakwrap_text_at(pc, false);
	struct leakwrap_code code;

	if (!module)
		return false;
	code = leakwrap_code_of(module, word);
	return leakwrap_call_before_return(&code, pc, target);
}
