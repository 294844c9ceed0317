/* generated_code.c - see generated_code.h. */
#include "wrap/unwind/generated_code.h"

#include "wrap/arch/arch.h"
#include "wrap/module/modules.h"
#include "wrap/port/port.h"

/* No call instruction is longer, in bytes. */
#define CALL_MAX 8u

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
}

bool leakwrap_find_interrupted_code(uintptr_t pc, bool thumb, struct leakwrap_code *code)
{
	*code = (struct leakwrap_code){page_of(pc), page_of(pc) + LEAKWRAP_PAGE, thumb};
	return !leakwrap_module_at(pc) && leakwrap_readable(pc);
}

bool leakwrap_is_generated_return(const struct leakwrap_stack *stack, uintptr_t word,
                                  struct leakwrap_code *code, uintptr_t *target)
{
	const uintptr_t pc = LEAKWRAP_STRIP(word);
	const uintptr_t page = page_of(pc - 1);

	/* Small numbers are no addresses: the kernel maps nothing there. */
	if (pc < LEAKWRAP_PAGE + CALL_MAX || (pc >= stack->low && pc < stack->high) ||
	    leakwrap_module_at(pc - 1) || !leakwrap_readable(page))
		return false;
	*code = (struct leakwrap_code){page, page + LEAKWRAP_PAGE,
	                               LEAKWRAP_HAVE_ARM_FRAMES && (word & 1) != 0};
	if (page_of(pc - CALL_MAX) != page && leakwrap_readable(page - 1))
		code->low -= LEAKWRAP_PAGE;
	if (page_of(pc) != page && leakwrap_readable(pc))
		code->high += LEAKWRAP_PAGE;
	return leakwrap_call_before(code, pc, target) != 0 &&
	       (*target == 0 || leakwrap_readable(*target));
}
