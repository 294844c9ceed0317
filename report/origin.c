/* origin.c - see origin.h.
 *
 * A function of the program belongs to a library if the compiler's static libraries have a
 * function of equal name and size.  Name and size come from the program's symbol table.  Neither
 * depends on where the linker puts the function, nor on the order of the link.
 *
 * The lists of library functions are made when the runtime is built (system_functions.sh).  They
 * are in a section that is not loaded.  Like the symbol table, they are read from the program's
 * file.
 *
 * Many functions of a library allocate for their caller: fopen, regcomp, a std::string that grows.
 * Behind these the next frame decides.
 *
 * In a dynamic program the module tells whose code a function is.  The same lists tell, by name
 * alone, which functions of the shared C library allocate for their caller.  Most functions inside
 * that library have no name in its symbol table, but those that other modules call have one: the
 * library's outermost frame decides.  What strdup allocates for ctime is the library's.
 *
 * fopen and opendir end in a jump to a function without a name, and have no frame.  The program
 * calls only functions with names, so the C library's outermost frame without a name stands for
 * such a jump.  A compiler puts a static function in front of the function that uses it: the first
 * name behind the frame is searched for, too. */
#include "report/origin.h"

#include "report/system_lists.h"
#include "wrap/arch/arch.h"
#include "wrap/base/common.h"
#include "wrap/module/module_records.h"
#include "wrap/module/registry.h"
#include "report/elf_symbols.h"

#include <string.h>

#include "system_c.h" /* the list for C */

#ifndef LEAKWRAP_BARE

/* What a frame says about the owner of the block. */
enum role {
	ROLE_OWNER,           /* the frame's module owns the block */
	ROLE_SYSTEM,          /* the system's libraries own the block */
	ROLE_FOR_CALLER,      /* the next frame decides */
	ROLE_LIBC,            /* if this is the C library's outermost frame, it owns the block */
	ROLE_LIBC_FOR_CALLER, /* if this is its outermost frame, its caller does */
};

/* A direct-mapped cache of answers by return address: many call sites share their innermost frame.
 * It has no frames of unloaded modules: another module may be at their addresses. */
#define CACHE_SIZE 512

static LEAKWRAP_TABLE struct {
	uintptr_t pc; /* 0: the entry is empty */
	enum role role;
} cache[CACHE_SIZE];

void leakwrap_origin_start(void)
{
	/* An earlier dump may have failed to read the symbols, and have cached wrong answers. */
	memset(cache, 0, sizeof(cache));
}

bool leakwrap_origin_is_known(void)
{
	const struct leakwrap_module *program = leakwrap_module_of_program();
	struct leakwrap_system_lists lists;

	return !program || !leakwrap_read_lists(program, &lists) || !lists.program_is_static ||
	       lists.has_symbols;
}

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns whether NAME begins with one of PREFIXES, which ends with NULL. */
static bool begins_with_any(const char *name, const char *const *prefixes)
{
	while (*prefixes && !begins_with(name, *prefixes))
		prefixes++;
	return *prefixes != NULL;
}

/* Returns whether NAME is one of NAMES, which ends with NULL. */
static bool is_any(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names) != 0)
		names++;
	return *names != NULL;
}

static const char *base_name(const struct leakwrap_module *module)
{
	const char *slash = strrchr(module->path, '/');

	return slash ? slash + 1 : module->path;
}

bool leakwrap_is_cxx_library(const struct leakwrap_module *module)
{
	static const char *const names[] = {"libstdc++.", "libc++.",    "libc++abi.",
	                                    "libgcc_s.",  "libsupc++.", NULL};

	return !module->is_program && begins_with_any(base_name(module), names);
}

/* Returns whether the function NAME of MODULE, a language's library, makes an object for its
 * caller.  Ada's "new" calls the first two. */
static bool makes_for_caller(const struct leakwrap_module *module, const char *name)
{
	static const struct {
		const char *library, *functions[6];
	} languages[] = {
	        {"libgnat-", {"__gnat_malloc", "__gnat_realloc", NULL}},
	        {"libobjc.",
	         {"objc_malloc", "objc_calloc", "objc_realloc", "objc_atomic_malloc",
	          "class_createInstance", NULL}},
	};

	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]); i++)
		if (begins_with(base_name(module), languages[i].library))
			return is_any(name, languages[i].functions);
	return false;
}

/* Returns whether the shared C library allocates for the caller of its function NAME.  scanf does
 * with the format "%ms", and calls a function that has no name.  The functions of an obstack call
 * what the program chose to allocate by; the lists have only functions that call malloc by name. */
static bool is_for_caller(const char *name)
{
	static const char *const obstacks[] = {"_obstack_", "obstack_", "__obstack_", NULL};
	const struct leakwrap_module *program = leakwrap_module_of_program();
	const uint32_t hash = leakwrap_hash_name(name);
	const size_t length = strlen(name);
	struct leakwrap_system_lists lists;

	if ((length >= 5 && strcmp(name + length - 5, "scanf") == 0) ||
	    begins_with_any(name, obstacks))
		return true;
	if (!program || !leakwrap_read_lists(program, &lists))
		return false;
	while (lists.count >= 2 && lists.words[1] <= (lists.count - 2) / 2) {
		const size_t count = lists.words[1];

		if (lists.words[0] == LEAKWRAP_SYSTEM_C_FOR_CALLER &&
		    leakwrap_system_list_has(lists.words + 2, count, hash, 0, UINT64_MAX))
			return true;
		lists.words += 2 + 2 * count;
		lists.count -= 2 + 2 * count;
	}
	return false;
}

/* Returns the role of the function FUNCTION of the program, by the lists of static libraries. */
static enum role role_in_program(const struct leakwrap_module *program,
                                 const struct leakwrap_function *function)
{
	struct leakwrap_system_lists lists;

	if (!function || !leakwrap_read_lists(program, &lists))
		return ROLE_OWNER;
	switch (leakwrap_system_role(lists.words, lists.count, function->name, function->size,
	                             lists.program_is_static, LEAKWRAP_LINKER_RELAXES)) {
	case LEAKWRAP_ROLE_KEEPS:
		return ROLE_SYSTEM;
	case LEAKWRAP_ROLE_FOR_CALLER:
		return ROLE_FOR_CALLER;
	default:
		return ROLE_OWNER;
	}
}

/* Returns whether glibc's function NAME allocates the buffer of a stream.  The stream owns it,
 * although scanf or getline, which allocate for their caller, may be the first to need it. */
static bool is_for_stream(const char *name)
{
	return begins_with(name, "_IO_") && strstr(name, "doalloc");
}

/* Returns the role of the C library's frame at PC in MODULE. */
static enum role role_in_libc(uintptr_t pc, const struct leakwrap_module *module)
{
	/* Greater than the code between the call of malloc and the function behind. */
	const uintptr_t near = 512;
	struct leakwrap_function function;

	if (leakwrap_symbol_find(module, pc - 1, &function)) {
		if (is_for_stream(function.name))
			return ROLE_SYSTEM;
		return is_for_caller(function.name) ? ROLE_LIBC_FOR_CALLER : ROLE_LIBC;
	}
	for (unsigned i = 0; leakwrap_symbol_behind(module, pc - 1, i, &function); i++)
		if (function.offset < near && is_for_caller(function.name))
			return ROLE_LIBC_FOR_CALLER;
	return ROLE_LIBC;
}

/* Returns the role of the frame at PC in MODULE; NULL: in no module. */
static enum role find_role(uintptr_t pc, const struct leakwrap_module *module)
{
	/* The system's shared libraries.  musl's loader is its C library, too. */
	static const char *const c_library[] = {"libc.",  "libc-2", "ld-musl",   "libpthread",
	                                        "libdl.", "librt.", "libresolv", "libnss_",
	                                        "libnsl", NULL};
	static const char *const loader[] = {"ld-", "ld.", "ld64.", "ld64-", NULL};
	/* Functions of the C++ library that allocate for the library itself. */
	static const char *const kept_by_cxx[] = {"_ZNSt6locale", "_ZNSt8ios_base4Init",
	                                          "_ZNSt8ios_base15sync_with_stdio", NULL};
	struct leakwrap_function function;
	bool is_named;
	const char *base;

	if (!module)
		return ROLE_OWNER;
	base = base_name(module);
	if (!module->is_program && begins_with_any(base, c_library))
		return role_in_libc(pc, module);
	is_named = leakwrap_symbol_find(module, pc - 1, &function);
	if (module->is_program)
		return role_in_program(module, is_named ? &function : NULL);
	if (leakwrap_is_cxx_library(module))
		return is_named && begins_with_any(function.name, kept_by_cxx) ? ROLE_SYSTEM
		                                                               : ROLE_FOR_CALLER;
	if (is_named && makes_for_caller(module, function.name))
		return ROLE_FOR_CALLER;
	return begins_with_any(base, loader) ? ROLE_SYSTEM : ROLE_OWNER;
}

/* Returns the role of the frame at PC.  GONE: the module that PC was in, if it was unloaded; else
 * NULL. */
static enum role role_of(uintptr_t pc, const struct leakwrap_module *gone)
{
	const size_t entry = (pc ^ pc >> 9) % CACHE_SIZE;

	if (gone)
		return find_role(pc, gone);
	if (cache[entry].pc != pc) {
		cache[entry].role = find_role(pc, leakwrap_module_at(pc - 1));
		cache[entry].pc = pc;
	}
	return cache[entry].role;
}

/* Returns the origin that the module of the frame at PC stands for.  GONE: as in role_of. */
static struct leakwrap_origin origin_in(uintptr_t pc, const struct leakwrap_module *gone)
{
	const struct leakwrap_module *module = gone ? gone : leakwrap_module_ever_at(pc - 1);

	if (!module || module->is_program)
		return (struct leakwrap_origin){LEAKWRAP_ORIGIN_PROGRAM, NULL};
	return (struct leakwrap_origin){LEAKWRAP_ORIGIN_LIBRARY, module};
}

struct leakwrap_origin leakwrap_origin_of(const struct leakwrap_trace *trace)
{
	const struct leakwrap_origin of_system = {LEAKWRAP_ORIGIN_SYSTEM, NULL};
	enum role inner = ROLE_FOR_CALLER; /* of the frame before */

	for (unsigned i = 0; i < trace->depth; i++) {
		const uintptr_t pc = trace->pcs[i];
		const struct leakwrap_module *gone = leakwrap_module_gone(trace->modules, pc - 1);
		const enum role role = role_of(pc, gone);

		if (role == ROLE_SYSTEM ||
		    (inner == ROLE_LIBC && role != ROLE_LIBC && role != ROLE_LIBC_FOR_CALLER))
			return of_system;
		if (role == ROLE_OWNER)
			return origin_in(pc, gone);
		inner = role;
	}
	return inner == ROLE_LIBC ? of_system
	                          : (struct leakwrap_origin){LEAKWRAP_ORIGIN_PROGRAM, NULL};
}

#else

/* A bare-metal program has no symbol table in its memory.  The leakwrap tool finds the symbol table
 * and the lists in the file on the host. */
void leakwrap_origin_start(void)
{
}

bool leakwrap_origin_is_known(void)
{
	return false;
}

struct leakwrap_origin leakwrap_origin_of(const struct leakwrap_trace *trace)
{
	(void)trace;
	return (struct leakwrap_origin){LEAKWRAP_ORIGIN_PROGRAM, NULL};
}

#endif
