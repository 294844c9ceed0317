/* traced.c - see traced.h. */
#include "tools/elf/traced.h"

#include <string.h>

#include "report/announcement.h"
#include "tools/base/numbers.h"
#include "tools/elf/headers.h"

/* Returns true if SEGMENT has the note of the tracer.  Sets *ANNOUNCEMENT if the note leads to one.
 *
 * Searches word by word: mold puts notes of different alignment into one segment, which does not
 * show where a later note starts.
 */
static bool find_note(Elf *elf, const GElf_Phdr *segment, uint64_t *announcement)
{
	const size_t header = 3, owner = sizeof LEAKWRAP_NOTE_OWNER;
	int64_t start = (int64_t)segment->p_offset;
	const size_t size = to_size(segment->p_filesz);
	Elf_Data *words = elf_getdata_rawchunk(elf, start, size & ~(size_t)3, ELF_T_WORD);
	Elf_Data *bytes = elf_getdata_rawchunk(elf, start, size, ELF_T_BYTE);

	if (!words || !bytes)
		return false;
	for (size_t at = 0; (at + header) * 4 + owner <= bytes->d_size; at++) {
		const Elf32_Word *word = (const Elf32_Word *)words->d_buf + at;
		const char *name = (const char *)bytes->d_buf + (at + header) * 4;
		if (word[0] == owner && word[2] == LEAKWRAP_NOTE_TYPE &&
		    memcmp(name, LEAKWRAP_NOTE_OWNER, owner) == 0) {
			/* Behind the owner, which is padded, the version and the distance. */
			size_t distance = at + header + (owner + 3) / 4 + 1;
			if (word[1] >= 8 && (distance + 1) * 4 <= bytes->d_size) {
				int32_t by = (int32_t)((const Elf32_Word *)words->d_buf)[distance];
				*announcement =
				        by ? segment->p_vaddr + distance * 4 + (uint64_t)(int64_t)by
				           : 0;
			}
			return true;
		}
	}
	return false;
}

/* Returns true if ELF has the tracer.  *ANNOUNCEMENT is the address of its announcement, or 0. */
static bool find_tracer(Elf *elf, uint64_t *announcement)
{
	GElf_Phdr segment;
	size_t at = 0;
	*announcement = 0;
	while (next_segment(elf, &at, PT_NOTE, &segment))
		if (find_note(elf, &segment, announcement))
			return true;
	return false;
}

bool is_tracers_name(const char *name)
{
	return strncmp(name, "__wrap_", 7) == 0 || strncmp(name, "leakwrap_", 9) == 0;
}

bool is_tools_name(const char *name)
{
	static const char *const parts[] = {
	        "__interceptor_", "InitializeCommonInterceptors",
	        "__sanitizer",    "__asan",
	        "__hwasan",       "__lsan",
	        "__msan",         "__tsan",
	        "__ubsan",
	};
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(name, parts[i]))
			return true;
	return is_tracers_name(name);
}

bool elf_is_traced(Elf *elf)
{
	uint64_t announcement;
	return find_tracer(elf, &announcement);
}

bool elf_find_announcement(Elf *elf, uint64_t *address)
{
	return find_tracer(elf, address) && *address != 0;
}

bool is_part_of_function(const char *name)
{
	return strstr(name, ".cold") != NULL;
}

/* The C library has the names with an underscore in front (C11 7.1.3), except those of the C++ ABI.
 * The other names are in malloc.c of some version of glibc. */
bool is_c_librarys(const char *name)
{
	return (name[0] == '_' && name[1] != 'Z') || strncmp(name, "tcache_", 7) == 0 ||
	       strstr(name, "_hook_ini") != NULL;
}
