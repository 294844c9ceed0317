/* dynamic_symbols.c - see dynamic_symbols.h. */
#include "wrap/module/dynamic_symbols.h"

#include <stdbool.h>
#include <string.h>

/* The bit of an entry of DT_VERSYM that marks a version that new programs do not get (Linux
 * Standard Base, "Symbol Versioning"). */
#define HIDDEN_VERSION 0x8000u

const void *leakwrap_dynamic_pointer(const struct leakwrap_module *module, uintptr_t value)
{
	if (value < module->start)
		value += module->bias;
	return value >= module->start && value < module->end ? (const void *)value : NULL;
}

struct leakwrap_dynamic leakwrap_dynamic_read(const struct leakwrap_module *module)
{
	struct leakwrap_dynamic found = {0};
	const ElfW(Dyn) *entry = module->dynamic;

	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const uintptr_t value = entry->d_un.d_ptr;

		switch (entry->d_tag) {
		case DT_SYMTAB:
			found.symbols = leakwrap_dynamic_pointer(module, value);
			break;
		case DT_STRTAB:
			found.names = leakwrap_dynamic_pointer(module, value);
			break;
		case DT_STRSZ:
			found.names_size = value;
			break;
		case DT_HASH:
			found.hash = leakwrap_dynamic_pointer(module, value);
			break;
		case DT_GNU_HASH:
			found.gnu_hash = leakwrap_dynamic_pointer(module, value);
			break;
		case DT_VERSYM:
			found.versions = leakwrap_dynamic_pointer(module, value);
			break;
		default:
			break;
		}
	}
	return found;
}

/* -- the hash tables --------------------------------------------------------------------------- */

/* A GNU hash table is a header of 4 words, the bloom filter, the buckets and the chains.  The first
 * word counts the buckets.  The second word is the first symbol that the table holds.  The third
 * word is the size of the bloom filter, in words of an address.  A chain ends with an odd word
 * (binutils, bfd/elflink.c). */
struct gnu_hash {
	uint32_t buckets, first;
	const uint32_t *bucket, *chain; /* CHAIN[i] belongs to the symbol FIRST + i */
};

static struct gnu_hash read_gnu_hash(const uint32_t *hash)
{
	struct gnu_hash table = {.buckets = hash[0], .first = hash[1]};

	table.bucket = hash + 4 + hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	table.chain = table.bucket + table.buckets;
	return table;
}

/* Returns the number of symbols in the module that has the GNU hash table HASH.  The symbols before
 * "first" are counted although the hash table does not hold them. */
static size_t count_in_gnu_hash(const uint32_t *hash)
{
	const struct gnu_hash table = read_gnu_hash(hash);
	uint32_t last = 0;

	for (uint32_t i = 0; i < table.buckets; i++)
		if (table.bucket[i] > last)
			last = table.bucket[i];
	if (last < table.first)
		return table.first;
	while ((table.chain[last - table.first] & 1) == 0)
		last++;
	return (size_t)last + 1;
}

size_t leakwrap_dynamic_count(const struct leakwrap_dynamic *dynamic)
{
	/* hash[1] is nchain, the number of symbols (System V ABI, chapter 5, "Hash Table"). */
	if (dynamic->hash)
		return dynamic->hash[1];
	return dynamic->gnu_hash ? count_in_gnu_hash(dynamic->gnu_hash) : 0;
}

/* Returns whether the symbol INDEX is the function NAME, defined by the module: the default
 * version, or with IS_HIDDEN another one. */
static bool is_definition(const struct leakwrap_dynamic *dynamic, size_t index, const char *name,
                          bool is_hidden)
{
	const ElfW(Sym) *symbol = &dynamic->symbols[index];

	return (symbol->st_info & 0xf) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_name < dynamic->names_size &&
	       (dynamic->versions && (dynamic->versions[index] & HIDDEN_VERSION) != 0) ==
	               is_hidden &&
	       strcmp(dynamic->names + symbol->st_name, name) == 0;
}

/* Finds NAME by DT_GNU_HASH.  Returns the symbol's index, or 0, which is no symbol. */
static size_t find_by_gnu_hash(const struct leakwrap_dynamic *dynamic, const char *name,
                               bool is_hidden)
{
	const struct gnu_hash table = read_gnu_hash(dynamic->gnu_hash);
	uint32_t sum = 5381, index;

	for (const char *c = name; *c; c++)
		sum = sum * 33 + (unsigned char)*c;
	index = table.buckets > 0 ? table.bucket[sum % table.buckets] : 0;
	if (index < table.first)
		return 0;
	for (;; index++) {
		const uint32_t entry = table.chain[index - table.first];

		if (((entry ^ sum) >> 1) == 0 && is_definition(dynamic, index, name, is_hidden))
			return index;
		if (entry & 1)
			return 0;
	}
}

/* Finds NAME by DT_HASH, the hash table of the System V ABI.  Returns the symbol's index, or 0. */
static size_t find_by_hash(const struct leakwrap_dynamic *dynamic, const char *name, bool is_hidden)
{
	const uint32_t buckets = dynamic->hash[0], *bucket = dynamic->hash + 2;
	const uint32_t *chain = bucket + buckets;
	uint32_t sum = 0;

	for (const char *c = name; *c; c++) {
		sum = (sum << 4) + (unsigned char)*c;
		sum = (sum ^ (sum >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (uint32_t i = buckets > 0 ? bucket[sum % buckets] : 0; i != 0; i = chain[i])
		if (is_definition(dynamic, i, name, is_hidden))
			return i;
	return 0;
}

static size_t find(const struct leakwrap_dynamic *dynamic, const char *name, bool is_hidden)
{
	if (!dynamic->symbols || !dynamic->names)
		return 0;
	if (dynamic->gnu_hash)
		return find_by_gnu_hash(dynamic, name, is_hidden);
	return dynamic->hash ? find_by_hash(dynamic, name, is_hidden) : 0;
}

uintptr_t leakwrap_dynamic_find(const struct leakwrap_module *module, const char *name)
{
	const struct leakwrap_dynamic dynamic = leakwrap_dynamic_read(module);
	size_t index = find(&dynamic, name, false);

	if (index == 0)
		index = find(&dynamic, name, true);
	return index != 0 ? module->bias + dynamic.symbols[index].st_value : 0;
}
