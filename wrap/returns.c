/* returns.c - see returns.h. */
#include "returns.h"

#include "arch/arch.h"
#include "prologue.h"

const struct leakwrap_module *leakwrap_text_at(uintptr_t pc, bool interrupted)
{
	uintptr_t code = interrupted ? pc : pc - 1;
	const struct leakwrap_module *module = leakwrap_module_at(code);

	return module && code >= module->text_start && code < module->text_end &&
	                       (module->permanent || leakwrap_module_is_there(module))
	               ? module
	               : NULL;
}

struct leakwrap_code leakwrap_code_of(const struct leakwrap_module *module, uintptr_t word)
{
	return (struct leakwrap_code){.low = module->text_start,
	                              .high = module->text_end,
	                              .thumb = LEAKWRAP_HAVE_ARM_FRAMES && (word & 1) != 0};
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
