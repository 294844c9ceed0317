/* sigreturn.c - see sigreturn.h. */
#include "wrap/unwind/sigreturn.h"

#include "wrap/arch/arch.h"
#include "wrap/module/other_code.h"
#include "wrap/port/port.h"

#include <stddef.h>
#include <string.h>

#ifdef LEAKWRAP_SIGRETURN_TRAMPOLINES

struct trampoline {
	uint8_t size; /* of CODE, in bytes */
	uint8_t code[12];
	int32_t sp, pc, fp, lr; /* where the interrupted function's registers are, from sp */
};

#define LONGEST sizeof(((struct trampoline *)NULL)->code)

static bool is_readable_code(uintptr_t address)
{
	return leakwrap_is_other_code(address) && leakwrap_readable(address);
}

/* Returns the number of bytes from PC on that may be read.  END: as of
 * leakwrap_find_sigreturn_rule. */
static uintptr_t room_at(uintptr_t pc, uintptr_t end)
{
	if (end != 0)
		return end > pc ? end - pc : 0;
	return is_readable_code(pc) && is_readable_code(pc + LONGEST - 1) ? LONGEST : 0;
}

bool leakwrap_find_sigreturn_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	static const struct trampoline trampolines[] = {LEAKWRAP_SIGRETURN_TRAMPOLINES};
	const uintptr_t room = room_at(pc, end);

	for (size_t i = 0; i < sizeof(trampolines) / sizeof(trampolines[0]); i++) {
		const struct trampoline *trampoline = &trampolines[i];

		if (room >= trampoline->size &&
		    memcmp((const void *)pc, trampoline->code, trampoline->size) == 0) {
			*rule = (struct leakwrap_rule){.kind = LEAKWRAP_RULE_SIGNAL,
			                               .base = LEAKWRAP_BASE_SP,
			                               .ra_where = LEAKWRAP_SAVED_AT_BASE,
			                               .fp_where = LEAKWRAP_SAVED_AT_BASE,
			                               .cfa_offset = trampoline->sp,
			                               .add = trampoline->lr,
			                               .ra_offset = trampoline->pc,
			                               .fp_offset = trampoline->fp};
			return true;
		}
	}
	return false;
}

#else

bool leakwrap_find_sigreturn_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	(void)pc, (void)end, (void)rule;
	return false;
}

#endif
