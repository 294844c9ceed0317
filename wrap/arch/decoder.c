/* decoder.c - the decoder of the architecture's instructions, see decode.h. */
#define LEAKWRAP_NEEDS_CODE
#include "wrap/arch/arch.h"
#include "wrap/arch/decode.h"

#if !LEAKWRAP_HAVE_CODE

void leakwrap_decode(const struct leakwrap_code *code, uintptr_t at,
                     struct leakwrap_instruction *instruction)
{
	(void)code, (void)at;
	leakwrap_instruction_is(instruction, 1, LEAKWRAP_FLOW_END);
}

bool leakwrap_is_data(const struct leakwrap_code *code, uintptr_t at)
{
	(void)code, (void)at;
	return false;
}

/* Assumes a call before every address. */
uintptr_t leakwrap_call_before(const struct leakwrap_code *code, uintptr_t pc, uintptr_t *target)
{
	(void)code;
	*target = 0;
	return pc;
}

#endif
