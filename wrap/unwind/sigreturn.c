/* sigreturn.c - see sigreturn.h. */
#include "wrap/unwind/sigreturn.h"

#include "wrap/arch/arch.h"
#include "wrap/port/port.h"

#include <string.h>

#ifdef LEAKWRAP_SIGRETURN_TRAMPOLINES

struct trampoline {
	uint8_t size; /* of CODE, in bytes */
	uint8_t code[12];
	int32_t sp, pc, fp, lr; /* where the interrupted function's registers are, from sp */
};

bool leakwrap_sigreturn_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	static const struct trampoline trampolines[] = {LEAKWRAP_SIGRETURN_TRAMPOLINES};
	bool readable = pc < end && end - pc >= sizeof(trampolines->code);

	if (!readable &&
	    (!leakwrap_readable(pc) || !leakwrap_readable(pc + sizeof(trampolines->code) - 1)))
		return false;
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(trampolines[0]); i++) {
		const struct trampoline *trampoline = &trampolines[i];

		if (memcmp((const void *)pc, trampoline->code, trampoline->size) == 0) {
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

bool leakwrap_sigreturn_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	(void)pc, (void)end, (void)rule;
	return false;
}

#endif
