/* bypass.c - bypass.c in wrap/module judges the relocations of a made-up module, also if its
 * dynamic section is damaged.
 * sources: wrap/module/bypass.c */
#include "wrap/module/bypass.h"

#include "wrap/arch/arch.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/originals.h"
#include "unit.h"

#include <string.h>

#if UINTPTR_MAX > UINT32_MAX
#define INFO_OF(symbol, type) ELF64_R_INFO(symbol, type)
#else
#define INFO_OF(symbol, type) ELF32_R_INFO(symbol, type)
#endif

enum { OURS = 0x7000, ALLOCATOR = 0x9000, ELSEWHERE = 0x5000, CALL = LEAKWRAP_ELF_ADDRESS + 0x40 };

/* The module: a relocation of its slot, for its symbol. */
static struct {
	ElfW(Dyn) dynamic[8];
	ElfW(Sym) symbols[2];
	char names[64];
	uintptr_t slot;
	ElfW(Rela) relocation;
} image;

static struct leakwrap_module module;
struct leakwrap_originals leakwrap_originals = {.allocator_start = ALLOCATOR,
                                                .allocator_end = ALLOCATOR + 0x100};

const void *leakwrap_dynamic_pointer(const struct leakwrap_module *of, uintptr_t value)
{
	CHECK(of == &module);
	return (const void *)value;
}

struct leakwrap_dynamic leakwrap_dynamic_read(const struct leakwrap_module *of)
{
	CHECK(of == &module);
	return (struct leakwrap_dynamic){
	        .symbols = image.symbols, .names = image.names, .names_size = sizeof(image.names)};
}

uintptr_t leakwrap_exported_function(const char *name)
{
	return strcmp(name, "malloc") == 0 ? OURS : 0;
}

/* Judges the module if it has a relocation of TYPE for NAME, and BOUND in its slot.  SIZE: of all
 * its relocations, as its dynamic section says. */
static enum leakwrap_bypass judge(const char *name, unsigned type, uintptr_t bound, size_t size)
{
	const ElfW(Dyn) dynamic[] = {{.d_tag = DT_RELA, .d_un.d_val = (uintptr_t)&image.relocation},
	                             {.d_tag = DT_RELASZ, .d_un.d_val = size},
	                             {.d_tag = DT_NULL}};

	memcpy(image.dynamic, dynamic, sizeof(dynamic));
	memset(image.names, 0, sizeof(image.names));
	memcpy(image.names + 1, name, strlen(name));
	image.symbols[1].st_name = 1;
	image.slot = bound;
	image.relocation.r_offset = (uintptr_t)&image.slot - (uintptr_t)&image;
	image.relocation.r_info = INFO_OF(1, type);
	return leakwrap_bypass_of(&module);
}

int main(void)
{
	const size_t one = sizeof(image.relocation);

	module = (struct leakwrap_module){
	        .start = (uintptr_t)&image,
	        .end = (uintptr_t)(&image + 1),
	        .bias = (uintptr_t)&image,
	        .segment = {{.start = (uintptr_t)&image, .end = (uintptr_t)(&image + 1)}},
	        .dynamic = image.dynamic};
	CHECK(judge("malloc", CALL, OURS, one) == LEAKWRAP_BYPASS_NONE);
	CHECK(judge("malloc", CALL, ELSEWHERE, one) == LEAKWRAP_BYPASS_BOUND);
	CHECK(judge("malloc", CALL, ELSEWHERE, 0) == LEAKWRAP_BYPASS_NONE);
	/* No call was made yet: the slot holds an address in the module, or without the bias. */
	CHECK(judge("malloc", CALL, module.start + 8, one) == LEAKWRAP_BYPASS_NONE);
	CHECK(judge("malloc", CALL, 8, one) == LEAKWRAP_BYPASS_NONE);
	CHECK(judge("malloc", CALL, 0, one) == LEAKWRAP_BYPASS_NONE);
	CHECK(judge("malloc", CALL, module.end, one) == LEAKWRAP_BYPASS_BOUND);
	/* A variable, which may hold another function by now. */
	CHECK(judge("malloc", LEAKWRAP_ELF_ADDRESS, ELSEWHERE, one) == LEAKWRAP_BYPASS_NONE);
	CHECK(judge("malloc", LEAKWRAP_ELF_ADDRESS, ALLOCATOR, one) == LEAKWRAP_BYPASS_BOUND);

	/* Functions that the allocator has beside malloc. */
	CHECK(judge("mallocx", CALL, ALLOCATOR, one) == LEAKWRAP_BYPASS_OTHER_NAME);
	CHECK(judge("mallocx", CALL, ELSEWHERE, one) == LEAKWRAP_BYPASS_NONE);
	CHECK(judge("_Znwm", CALL, ALLOCATOR, one) == LEAKWRAP_BYPASS_BOUND);
	CHECK(judge("strlen", CALL, ALLOCATOR, one) == LEAKWRAP_BYPASS_NONE);
	CHECK(judge("__libc_malloc", CALL, ELSEWHERE, one) == LEAKWRAP_BYPASS_LIBC_NAME);
	CHECK(judge("__libc_start_main", CALL, ELSEWHERE, one) == LEAKWRAP_BYPASS_NONE);
	module.has_tracer = true;
	CHECK(judge("__libc_malloc", CALL, ELSEWHERE, one) == LEAKWRAP_BYPASS_NONE);
	module.has_tracer = false;

	/* The relocations would end behind the module. */
	CHECK(judge("malloc", CALL, OURS, 100 * one) == LEAKWRAP_BYPASS_NONE);
	CHECK(judge("malloc", CALL, OURS, SIZE_MAX) == LEAKWRAP_BYPASS_NONE);
	/* The names, or the symbols, are in no segment. */
	module.segment[0].end = (uintptr_t)image.names;
	CHECK(judge("malloc", CALL, ELSEWHERE, one) == LEAKWRAP_BYPASS_NONE);
	module.segment[0].end = (uintptr_t)&image.symbols[1];
	CHECK(judge("malloc", CALL, ELSEWHERE, one) == LEAKWRAP_BYPASS_NONE);
	return 0;
}
