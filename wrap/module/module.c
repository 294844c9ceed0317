/* module.c - see module.h. */
#include "wrap/module/module.h"

#include "wrap/base/hash.h"
#include "wrap/port/port.h"

#include <elf.h>
#include <string.h>

/* Bytes at the start of a module: its ELF header and first program headers. */
#define HEADERS_SIZE ((size_t)512)

static uintptr_t page_of(uintptr_t address)
{
	return address & ~(uintptr_t)(LEAKWRAP_PAGE - 1);
}

/* Adds the SIZE bytes at FROM to the hash SUM, without a rest of less than a word. */
static uint32_t hash_bytes(uint32_t sum, uintptr_t from, size_t size)
{
	uint32_t word;

	for (size_t at = 0; size - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, (const void *)(from + at), sizeof(word));
		sum = (sum ^ word) * LEAKWRAP_HASH_FACTOR_32;
	}
	return sum;
}

uint32_t leakwrap_module_hash_headers(const struct leakwrap_module *module, bool is_readable)
{
	const uintptr_t page = page_of(module->start), id = module->build_id_at;
	uint32_t sum;

	if (!is_readable && !leakwrap_readable(page))
		return 0;
	sum = hash_bytes(0, page, HEADERS_SIZE);
	return page_of(id) == page && page_of(id + module->build_id_size) == page
	               ? hash_bytes(sum, id, module->build_id_size)
	               : sum;
}

bool leakwrap_module_is_there(const struct leakwrap_module *module)
{
	return leakwrap_module_hash_headers(module, false) == module->headers;
}

bool leakwrap_module_is_vdso(const struct leakwrap_module *module)
{
	return module->start == leakwrap_auxiliary(AT_SYSINFO_EHDR);
}
