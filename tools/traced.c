/* traced.c - see traced.h. */
#include "traced.h"

#include <string.h>

#include "../report/format.h"

/* Looked for word by word rather than from note to note: mold puts notes of different alignment into one
 * segment, in which the places of the later ones cannot be told from the segment alone. */
static bool has_note(Elf *elf, const GElf_Phdr *segment)
{
	const size_t header = 3, owner = sizeof LEAKWRAP_NOTE_OWNER;
	int64_t start = (int64_t)segment->p_offset;
	Elf_Data *words =
	        elf_getdata_rawchunk(elf, start, segment->p_filesz & ~UINT64_C(3), ELF_T_WORD);
	Elf_Data *bytes = elf_getdata_rawchunk(elf, start, segment->p_filesz, ELF_T_BYTE);

	if (!words || !bytes)
		return false;
	for (size_t at = 0; (at + header) * 4 + owner <= bytes->d_size; at++) {
		const Elf32_Word *word = (const Elf32_Word *)words->d_buf + at;
		const char *name = (const char *)bytes->d_buf + (at + header) * 4;
		if (word[0] == owner && word[2] == LEAKWRAP_NOTE_TYPE &&
		    memcmp(name, LEAKWRAP_NOTE_OWNER, owner) == 0)
			return true;
	}
	return false;
}

bool elf_is_traced(Elf *elf)
{
	size_t count;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_NOTE &&
		    has_note(elf, &header))
			return true;
	}
	return false;
}
