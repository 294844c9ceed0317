/* saved_registers.c - see saved_registers.h. */
#include "wrap/reach/saved_registers.h"

#include "wrap/arch/arch.h"
#include "wrap/reach/maps.h"
#include "wrap/reach/mark.h"

#include <stdint.h>

#ifdef LEAKWRAP_CONTEXT_REGISTERS

#include <ucontext.h>

#if defined(LEAKWRAP_CONTEXT_FXSAVE) || defined(LEAKWRAP_CONTEXT_RECORDS)

/* No state of vector registers is as large.  A frame that says so is damaged. */
#define STATE_MAX 0x40000u

static uint32_t read_number(uintptr_t address)
{
	return *(const uint32_t *)address;
}

/* Marks SIZE bytes from START on, as far as they can be read. */
static void mark_state(uintptr_t start, uintptr_t size)
{
	leakwrap_mark_range(start, leakwrap_maps_readable_end(start, start + size));
}

#endif

#ifdef LEAKWRAP_CONTEXT_FXSAVE

/* The image that the instruction FXSAVE writes has xmm0 and those that follow at 160.  This is the
 * first part of the whole state.  The kernel has put the format of the whole into the last 48
 * bytes: a magic number, the size with another magic number behind it, 8 bytes of features, the
 * size.  The state behind the image has the upper halves of ymm0 to ymm15, and what AVX-512 adds.
 * Source: Linux, uapi/asm/sigcontext.h, struct _fpx_sw_bytes; Intel SDM volume 1, section 13.4. */
#define FXSAVE_VECTORS 160u
#define FXSAVE_FORMAT  464u
#define FXSAVE_SIZE    512u
#define STATE_MAGIC    0x46505853u
#define STATE_SIZE     16u

static void mark_vectors(const ucontext_t *interrupted)
{
	const uintptr_t image = LEAKWRAP_CONTEXT_FXSAVE(interrupted);
	const uintptr_t format = image + FXSAVE_FORMAT;
	uint32_t size = FXSAVE_FORMAT;

	if (image == 0)
		return;
	if (read_number(format) == STATE_MAGIC) {
		const uint32_t whole = read_number(format + STATE_SIZE);

		if (whole > FXSAVE_SIZE && whole <= STATE_MAX)
			size = whole;
	}
	mark_state(image + FXSAVE_VECTORS, size - FXSAVE_VECTORS);
}

#elif defined(LEAKWRAP_CONTEXT_RECORDS)

/* The state of the vector registers is a list of records, each with a magic number and its size
 * first; a magic number of 0 ends it.  On AArch64 one record may lead to memory that has further
 * ones: 8 bytes for the address, then the size.  Source: Linux, uapi/asm/sigcontext.h, struct
 * extra_context; arch/arm/kernel/signal.c. */
#define RECORD_HEAD 8u
#define EXTRA_MAGIC 0x45585401u
#define EXTRA_SIZE  32u

static void mark_vectors(const ucontext_t *interrupted)
{
	uintptr_t record = LEAKWRAP_CONTEXT_RECORDS(interrupted);
	const uintptr_t end = record + LEAKWRAP_CONTEXT_RECORDS_SIZE;

	while (end - record >= EXTRA_SIZE && read_number(record) != 0) {
		const uint32_t size = read_number(record + 4);

		if (size < RECORD_HEAD || size % RECORD_HEAD != 0 || size > end - record)
			return;
		leakwrap_mark_range(record, record + size);
		if (sizeof(uintptr_t) == 8 && read_number(record) == EXTRA_MAGIC) {
			const uint32_t more = read_number(record + RECORD_HEAD + 8);

			mark_state(*(const uintptr_t *)(record + RECORD_HEAD),
			           more < STATE_MAX ? more : STATE_MAX);
		}
		record += size;
	}
}

#else

static void mark_vectors(const ucontext_t *interrupted)
{
	(void)interrupted;
}

#endif

void leakwrap_saved_registers_mark(const void *context)
{
	const ucontext_t *const interrupted = context;

#define REGISTER(name, field) leakwrap_mark_word((uintptr_t)interrupted->field);
	LEAKWRAP_CONTEXT_REGISTERS(REGISTER)
#undef REGISTER
	mark_vectors(interrupted);
}

#else

void leakwrap_saved_registers_mark(const void *context)
{
	(void)context;
}

#endif
