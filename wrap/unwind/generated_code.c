/* generated_code.c - see generated_code.h. */
#include "wrap/unwind/generated_code.h"

#include "wrap/arch/arch.h"
#include "wrap/base/options.h"
#include "wrap/base/thread.h"
#include "wrap/module/other_code.h"
#include "wrap/module/registry.h"
#include "wrap/port/port.h"
#include "wrap/unwind/return_address.h"

/* No call instruction is longer, in bytes. */
#define CALL_MAX 8u

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
}

/* Returns whether ADDRESS lies in generated code, which may have been unmapped since. */
static bool is_generated(uintptr_t address)
{
	if (leakwrap_options.unwind != LEAKWRAP_UNWIND_AUTO || leakwrap_module_at(address))
		return false;
	leakwrap_other_code_read_at_times();
	return leakwrap_is_other_code(address);
}

/* Returns whether ADDRESS lies in generated code that can be read.  The walk remembers the page. */
static bool is_on_readable_page(uintptr_t address)
{
	const uintptr_t page = page_of(address);
	uintptr_t *const known =
	        &leakwrap_self.code_page[page / LEAKWRAP_PAGE % LEAKWRAP_CODE_PAGES];

	if (*known == page)
		return true;
	if (!is_generated(address) || !leakwrap_readable(address))
		return false;
	*known = page;
	return true;
}

void leakwrap_forget_code_pages(void)
{
	struct leakwrap_thread *const self = &leakwrap_self;

	for (unsigned i = 0; i < LEAKWRAP_CODE_PAGES; i++)
		self->code_page[i] = 0;
}

bool leakwrap_find_interrupted_code(uintptr_t pc, bool thumb, struct leakwrap_code *code)
{
	*code = (struct leakwrap_code){page_of(pc), page_of(pc) + LEAKWRAP_PAGE, thumb};
	if (leakwrap_options.unwind == LEAKWRAP_UNWIND_AUTO && !leakwrap_module_at(pc))
		leakwrap_other_code_read(true);
	return is_generated(pc) && leakwrap_readable(pc);
}

/* Returns whether WORD, as found on STACK, is no address: the kernel maps nothing where small
 * numbers lead to, and STACK is no code. */
static bool is_no_address(const struct leakwrap_stack *stack, uintptr_t word)
{
	return word < LEAKWRAP_PAGE + CALL_MAX || (word >= stack->low && word < stack->high);
}

bool leakwrap_is_generated_return(const struct leakwrap_stack *stack, uintptr_t word,
                                  struct leakwrap_code *code, uintptr_t *target)
{
	const uintptr_t pc = LEAKWRAP_STRIP(word);
	const uintptr_t page = page_of(pc - 1);

	if (is_no_address(stack, pc) || !is_on_readable_page(pc - 1))
		return false;
	*code = (struct leakwrap_code){page, page + LEAKWRAP_PAGE,
	                               LEAKWRAP_HAVE_ARM_FRAMES && (word & 1) != 0};
	if (page_of(pc - CALL_MAX) != page && is_on_readable_page(page - 1))
		code->low -= LEAKWRAP_PAGE;
	if (page_of(pc) != page && is_on_readable_page(pc))
		code->high += LEAKWRAP_PAGE;
	return leakwrap_call_before(code, pc, target) != 0 &&
	       (*target == 0 || leakwrap_text_at(*target, true) || is_generated(*target));
}

bool leakwrap_may_be_generated_later(const struct leakwrap_stack *stack, uintptr_t pc)
{
	if (leakwrap_options.unwind != LEAKWRAP_UNWIND_AUTO || is_no_address(stack, pc) ||
	    leakwrap_module_at(pc - 1) || leakwrap_is_other_code(pc - 1) ||
	    leakwrap_other_code_note_missed(pc - 1))
		return false;
	leakwrap_other_code_read(false);
	return true;
}
