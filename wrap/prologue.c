/* prologue.c - see prologue.h. */
#include "prologue.h"

#include <string.h>

#include "arch/arch.h"
#include "port.h"

#ifdef LEAKWRAP_RESTORERS

struct restorer {
	uint8_t size;
	uint8_t code[12];
	int32_t sp, pc, fp, lr;
};

bool leakwrap_restorer_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	static const struct restorer restorers[] = {LEAKWRAP_RESTORERS};
	bool readable = pc < end && end - pc >= sizeof(restorers->code);

	if (!readable &&
	    (!leakwrap_readable(pc) || !leakwrap_readable(pc + sizeof(restorers->code) - 1)))
		return false;
	for (size_t i = 0; i < sizeof(restorers) / sizeof(restorers[0]); i++) {
		const struct restorer *restorer = &restorers[i];

		if (memcmp((const void *)pc, restorer->code, restorer->size) == 0) {
			*rule = (struct leakwrap_rule){.kind = LEAKWRAP_RULE_SIGNAL,
			                               .base = LEAKWRAP_BASE_SP,
			                               .ra_place = LEAKWRAP_PLACE_BASE,
			                               .fp_place = LEAKWRAP_PLACE_BASE,
			                               .cfa = restorer->sp,
			                               .add = restorer->lr,
			                               .ra = restorer->pc,
			                               .fp = restorer->fp};
			return true;
		}
	}
	return false;
}

#else

bool leakwrap_restorer_rule(uintptr_t pc, uintptr_t end, struct leakwrap_rule *rule)
{
	(void)pc, (void)end, (void)rule;
	return false;
}

#endif
