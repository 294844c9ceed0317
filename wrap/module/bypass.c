/* bypass.c - see bypass.h. */
#include "wrap/module/bypass.h"

#include "wrap/arch/arch.h"
#include "wrap/module/dynamic_symbols.h"
#include "wrap/module/originals.h"

#include <stdbool.h>
#include <string.h>

#if UINTPTR_MAX > UINT32_MAX
#define SYMBOL_OF(info) ((size_t)ELF64_R_SYM(info))
#define TYPE_OF(info)   ELF64_R_TYPE(info)
#else
#define SYMBOL_OF(info) ((size_t)ELF32_R_SYM(info))
#define TYPE_OF(info)   ELF32_R_TYPE(info)
#endif

/* Parts of the dynamic section that hold relocations (System V ABI, chapter 5).  SKIPPED: bytes of
 * relocations at the start that refer to no symbol. */
struct relocations {
	uintptr_t start;
	size_t size, entry, skipped;
};

enum { PLT, RELA, REL, KINDS };

static void read_relocations(const struct leakwrap_module *module, struct relocations kinds[KINDS])
{
	const ElfW(Dyn) *entry = module->dynamic;

	memset(kinds, 0, KINDS * sizeof(kinds[0]));
	kinds[RELA].entry = sizeof(ElfW(Rela));
	kinds[REL].entry = sizeof(ElfW(Rel));
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const uintptr_t value = entry->d_un.d_val;

		switch (entry->d_tag) {
		case DT_JMPREL:
			kinds[PLT].start = value;
			break;
		case DT_PLTRELSZ:
			kinds[PLT].size = value;
			break;
		case DT_PLTREL:
			kinds[PLT].entry =
			        value == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
			break;
		case DT_RELA:
			kinds[RELA].start = value;
			break;
		case DT_RELASZ:
			kinds[RELA].size = value;
			break;
		case DT_RELACOUNT:
			kinds[RELA].skipped = value * sizeof(ElfW(Rela));
			break;
		case DT_REL:
			kinds[REL].start = value;
			break;
		case DT_RELSZ:
			kinds[REL].size = value;
			break;
		case DT_RELCOUNT:
			kinds[REL].skipped = value * sizeof(ElfW(Rel));
			break;
		default:
			break;
		}
	}
}

static bool is_in(const struct leakwrap_module *module, uintptr_t address)
{
	return address - module->start < module->end - module->start;
}

/* Returns whether NAME is a form of operator new or new[] (Itanium C++ ABI, 5.1.3). */
static bool is_operator_new(const char *name)
{
	return name[0] == '_' && name[1] == 'Z' && name[2] == 'n' &&
	       (name[3] == 'w' || name[3] == 'a');
}

/* Returns whether NAME, which the program does not export, stands for an allocation all the same:
 * the malloc of a family with a prefix (mi_malloc, tc_malloc) or one that jemalloc has in
 * addition. */
static bool is_other_allocation(const char *name)
{
	static const char *const ends[] = {"malloc",   "calloc",  "zalloc", "realloc",
	                                   "memalign", "mallocx", "rallocx"};
	const size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const size_t end = strlen(ends[i]);

		if (length >= end && strcmp(name + length - end, ends[i]) == 0)
			return true;
	}
	return false;
}

/* Returns whether BOUND is in the library that has the original malloc.  An operator new there is
 * the allocator's own, and does not call malloc. */
static bool is_allocators_own(uintptr_t bound)
{
	const struct leakwrap_originals *originals = &leakwrap_originals;

	return bound - originals->allocator_start <
	       originals->allocator_end - originals->allocator_start;
}

/* Judges that MODULE binds NAME, which the program does not export, to the function BOUND. */
static enum leakwrap_bypass judge_unexported(const struct leakwrap_module *module, uintptr_t bound,
                                             const char *name)
{
	if (is_in(module, bound) || !is_allocators_own(bound))
		return LEAKWRAP_BYPASS_NONE;
	if (is_operator_new(name))
		return LEAKWRAP_BYPASS_BOUND;
	return is_other_allocation(name) ? LEAKWRAP_BYPASS_OTHER_NAME : LEAKWRAP_BYPASS_NONE;
}

/* Returns whether MODULE, which refers to names with __libc_, may call them for blocks that the
 * tracer does not see.  A tracer calls none of them.  An allocator on top of the C library's calls
 * them for blocks that the tracer sees. */
static bool may_call_libc(const struct leakwrap_module *module)
{
	return !module->has_tracer && !is_in(module, (uintptr_t)leakwrap_originals.malloc);
}

/* Judges a relocation of MODULE for the function NAME.  Both kinds of relocations begin with the
 * members of RELOCATION. */
static enum leakwrap_bypass judge(const struct leakwrap_module *module,
                                  const ElfW(Rel) * relocation, const char *name)
{
	static const char libc_prefix[] = "__libc_";
	const uintptr_t place = module->bias + relocation->r_offset;
	uintptr_t ours, bound;

	if (strncmp(name, libc_prefix, sizeof(libc_prefix) - 1) == 0)
		return may_call_libc(module) &&
		                       leakwrap_exported_function(name + sizeof(libc_prefix) - 1)
		               ? LEAKWRAP_BYPASS_LIBC_NAME
		               : LEAKWRAP_BYPASS_NONE;
	if (!is_in(module, place) || place % sizeof(uintptr_t) != 0)
		return LEAKWRAP_BYPASS_NONE;
	ours = leakwrap_exported_function(name);
	if (ours == 0)
		return judge_unexported(module, *(const uintptr_t *)place, name);
	/* Before the first call, the place holds an address in the module itself.  Before the
	 * module is relocated, the place holds that address without the bias, or 0. */
	bound = *(const uintptr_t *)place;
	/* A variable that held malloc at first: the module may have stored another function, which
	 * may call malloc itself. */
	if (TYPE_OF(relocation->r_info) == LEAKWRAP_ELF_ADDRESS && !is_allocators_own(bound))
		return LEAKWRAP_BYPASS_NONE;
	return bound == ours || bound < module->end - module->bias || is_in(module, bound)
	               ? LEAKWRAP_BYPASS_NONE
	               : LEAKWRAP_BYPASS_BOUND;
}

/* Returns how many bytes of the segment of MODULE that holds ADDRESS are at ADDRESS and behind it.
 * Returns 0 if there is no such segment.  Between segments, memory may be unreadable. */
static size_t rest_of_segment(const struct leakwrap_module *module, const void *address)
{
	const uintptr_t at = (uintptr_t)address;

	for (unsigned i = 0; i < LEAKWRAP_SEGMENTS_MAX; i++) {
		const struct leakwrap_segment *const segment = &module->segment[i];

		if (at - segment->start < segment->end - segment->start)
			return segment->end - at;
	}
	return 0;
}

/* Returns the name of the symbol INDEX of MODULE, or NULL if there is none.  The hash table does
 * not count the symbols: a table without functions that the module defines leaves out those that
 * the module calls. */
static const char *symbol_name(const struct leakwrap_module *module,
                               const struct leakwrap_dynamic *dynamic, size_t index)
{
	const size_t count = rest_of_segment(module, dynamic->symbols) / sizeof(ElfW(Sym));
	size_t name;

	if (index == 0 || index >= count)
		return NULL;
	name = dynamic->symbols[index].st_name;
	return name < dynamic->names_size && name < rest_of_segment(module, dynamic->names)
	               ? dynamic->names + name
	               : NULL;
}

enum leakwrap_bypass leakwrap_bypass_of(const struct leakwrap_module *module)
{
	const struct leakwrap_dynamic dynamic = leakwrap_dynamic_read(module);
	struct relocations kinds[KINDS];
	enum leakwrap_bypass found = LEAKWRAP_BYPASS_NONE;

	read_relocations(module, kinds);
	for (unsigned kind = 0; kind < KINDS && found == LEAKWRAP_BYPASS_NONE; kind++) {
		const char *start = leakwrap_dynamic_pointer(module, kinds[kind].start);

		if (!start || kinds[kind].start == 0 || kinds[kind].entry == 0 ||
		    kinds[kind].size > module->end - (uintptr_t)start)
			continue;
		for (size_t at = kinds[kind].skipped;
		     at < kinds[kind].size && found == LEAKWRAP_BYPASS_NONE;
		     at += kinds[kind].entry) {
			const ElfW(Rel) *relocation = (const void *)(start + at);
			const char *const name =
			        symbol_name(module, &dynamic, SYMBOL_OF(relocation->r_info));

			if (name)
				found = judge(module, relocation, name);
		}
	}
	return found;
}
