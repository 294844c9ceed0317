/* module_notes.c - see module_notes.h. */
#include "wrap/module/module_notes.h"

#include "report/announcement.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef NT_GNU_BUILD_ID /* older <elf.h> */
#define NT_GNU_BUILD_ID 3
#endif

/* Returns whether the SIZE bytes at START are in a segment of MODULE. */
static bool is_loaded(const struct leakwrap_module *module, uintptr_t start, size_t size)
{
	for (unsigned i = 0; i < LEAKWRAP_SEGMENTS_MAX; i++) {
		const struct leakwrap_segment *segment = &module->segment[i];

		if (start >= segment->start && start < segment->end && size <= segment->end - start)
			return true;
	}
	return false;
}

/* Takes what the note of a tracer says of MODULE, in the COUNT words at WORD (announcement.h). */
static void take_tracer(struct leakwrap_module *module, const int32_t *word, size_t count)
{
	uintptr_t pointer;

	module->has_tracer = true;
	if (count <= 2)
		return;
	pointer = (uintptr_t)&word[2] + (uintptr_t)(intptr_t)word[2];
	if (is_loaded(module, pointer, sizeof(uintptr_t)))
		module->tracers_malloc = *(const uintptr_t *)pointer;
}

/* Takes what the note HEADER says of MODULE: its build-id, or that it holds a tracer.  OWNER and
 * DESCRIPTION are the note's.  The build-id has the type NT_GNU_BUILD_ID and the owner "GNU". */
static void take_note(struct leakwrap_module *module, const ElfW(Nhdr) * header, const char *owner,
                      const char *description)
{
	if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
	    memcmp(owner, "GNU", 4) == 0 && module->build_id_size == 0 &&
	    header->n_descsz <= sizeof(module->build_id)) {
		module->build_id_at = (uintptr_t)description;
		memcpy(module->build_id, description, header->n_descsz);
		module->build_id_size = (unsigned char)header->n_descsz;
	} else if (header->n_type == LEAKWRAP_NOTE_TYPE &&
	           header->n_namesz == sizeof(LEAKWRAP_NOTE_OWNER) &&
	           memcmp(owner, LEAKWRAP_NOTE_OWNER, sizeof(LEAKWRAP_NOTE_OWNER)) == 0) {
		take_tracer(module, (const void *)description, header->n_descsz / sizeof(int32_t));
	}
}

/* Reads the notes of MODULE at NOTE, of SIZE bytes.  An ELF note is three words, the name and the
 * description, both padded to four bytes (System V ABI, chapter 5, "Note Section"). */
static void read_notes(struct leakwrap_module *module, const char *note, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *header = (const void *)note;
		size_t name = ((size_t)header->n_namesz + 3) & ~(size_t)3;
		size_t description = ((size_t)header->n_descsz + 3) & ~(size_t)3;
		const char *behind_name = note + sizeof(*header) + name;

		if (name > size - sizeof(*header) || description > size - sizeof(*header) - name)
			return;
		take_note(module, header, note + sizeof(*header), behind_name);
		note = behind_name + description;
		size -= sizeof(*header) + name + description;
	}
}

void leakwrap_module_read_notes(struct leakwrap_module *module, const ElfW(Phdr) * segment,
                                unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const uintptr_t start = module->bias + segment[i].p_vaddr;

		if (segment[i].p_type == PT_NOTE && is_loaded(module, start, segment[i].p_memsz))
			read_notes(module, (const char *)start, segment[i].p_memsz);
	}
}
