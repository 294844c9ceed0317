/* system_lists.h - which functions of a static program are the C and C++ libraries', and for whom
 * they allocate. */
#ifndef LEAKWRAP_SYSTEM_LISTS_H
#define LEAKWRAP_SYSTEM_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section that is not loaded.  It holds lists of the functions of the static libraries that come
 * with the compiler (system_functions.sh).  A list is 32-bit words in the target's byte order:
 *
 *   the kind of the list, enum leakwrap_system_list
 *   the number of functions
 *   for each function the hash of its name in the symbol table, and its size; in ascending order
 *
 * A list for C is meant for static programs alone.  A list for C++ is meant for all programs. */
#define LEAKWRAP_SYSTEM_SECTION ".leakwrap.system"
enum leakwrap_system_list {
	LEAKWRAP_SYSTEM_C = 1,
	LEAKWRAP_SYSTEM_CXX,
	LEAKWRAP_SYSTEM_C_FOR_CALLER,
	LEAKWRAP_SYSTEM_CXX_FOR_CALLER,
};

/* Whose memory a function allocates. */
enum leakwrap_system_role {
	LEAKWRAP_ROLE_PROGRAM,    /* the program's: the function is in no list */
	LEAKWRAP_ROLE_KEEPS,      /* the library's own: stdio's buffer, a locale */
	LEAKWRAP_ROLE_FOR_CALLER, /* the caller's: fopen, regcomp, a growing std::string */
};

/* Returns the hash of a function's NAME.  The modulus is the largest prime below 2^32. */
static inline uint32_t leakwrap_hash_name(const char *name)
{
	uint64_t hash = 0;

	for (; *name != '\0'; name++)
		hash = (hash * 65599 + (unsigned char)*name) % 4294967291U;
	return (uint32_t)hash;
}

/* Returns whether a function at LIST has the hash HASH and a size from LEAST to MOST bytes.  LIST
 * has COUNT pairs of hash and size, in ascending order. */
static inline bool leakwrap_system_list_has(const uint32_t *list, size_t count, uint32_t hash,
                                            uint64_t least, uint64_t most)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[2 * middle] < hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && list[2 * low] == hash; low++)
		if (list[2 * low + 1] >= least && list[2 * low + 1] <= most)
			return true;
	return false;
}

/* Returns the role of the function NAME of SIZE bytes by LISTS.  LISTS is WORDS words in this
 * machine's byte order.  IS_STATIC: the program needs no dynamic loader.  IS_RELAXED: the linker
 * shortens functions, as the linkers of RISC-V and LoongArch do; then a listed size of up to twice
 * SIZE fits. */
static inline enum leakwrap_system_role leakwrap_system_role(const uint32_t *lists, size_t words,
                                                             const char *name, uint64_t size,
                                                             bool is_static, bool is_relaxed)
{
	const uint32_t hash = leakwrap_hash_name(name);
	enum leakwrap_system_role role = LEAKWRAP_ROLE_PROGRAM;

	while (words >= 2 && lists[1] <= (words - 2) / 2) {
		const size_t count = lists[1];
		const bool is_c =
		        lists[0] == LEAKWRAP_SYSTEM_C || lists[0] == LEAKWRAP_SYSTEM_C_FOR_CALLER;
		const bool has = (is_static || !is_c) &&
		                 leakwrap_system_list_has(lists + 2, count, hash, size,
		                                          is_relaxed ? 2 * size : size);

		if (has && lists[0] >= LEAKWRAP_SYSTEM_C_FOR_CALLER)
			return LEAKWRAP_ROLE_FOR_CALLER;
		if (has)
			role = LEAKWRAP_ROLE_KEEPS;
		lists += 2 + 2 * count;
		words -= 2 + 2 * count;
	}
	return role;
}

#endif
