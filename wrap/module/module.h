/* module.h - a module: the program, or a shared library. */
#ifndef LEAKWRAP_MODULE_H
#define LEAKWRAP_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEAKWRAP_BUILD_ID_MAX 32

/* Executable segments per module; further segments are ignored. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_TEXTS_MAX 1
#else
#define LEAKWRAP_TEXTS_MAX 4
#endif

/* The code at [start, end). */
struct leakwrap_text {
	uintptr_t start, end;
	/* Execute-only memory: it may not be readable (lld --execute-only).  The program may make
	 * its code execute-only at any time (mprotect(2)). */
	_Atomic bool is_only_executed;
};

#ifndef LEAKWRAP_BARE
/* Segments per module; further segments are ignored. */
#define LEAKWRAP_SEGMENTS_MAX 8

/* A segment of a module: [start, end) as its PT_LOAD header says.  The rest of its first and last
 * page is not part of it. */
struct leakwrap_segment {
	uintptr_t start, end;
	bool is_writable;
};
#endif

/* A module.  Immutable, but for is_only_executed. */
struct leakwrap_module {
	uintptr_t start, end; /* all its segments lie in [start, end) */
#ifndef LEAKWRAP_BARE
	struct leakwrap_segment segment[LEAKWRAP_SEGMENTS_MAX]; /* unused elements: END is 0 */
#endif
	/* The executable segments, nearly always a single one.  The memory between them may be
	 * unmapped.  Unused elements: END is 0. */
	struct leakwrap_text text[LEAKWRAP_TEXTS_MAX];
	uintptr_t bias;           /* address in memory minus address in the file */
	const void *eh_frame_hdr; /* PT_GNU_EH_FRAME in memory, or NULL */
	size_t eh_frame_hdr_size;
	const void *exidx;                  /* PT_ARM_EXIDX in memory, or NULL */
	size_t exidx_size;                  /* in bytes */
	uintptr_t tables_start, tables_end; /* the readable segment that holds the unwind tables */
	const void *dynamic;                /* PT_DYNAMIC in memory, or NULL */
#ifndef LEAKWRAP_BARE
	uintptr_t build_id_at; /* where BUILD_ID stands in memory; 0 if there is none */
	unsigned char bypass; /* enum leakwrap_bypass when it was loaded; not set if IS_PERMANENT */
	bool has_tracer;      /* it holds a tracer, this one or another */

	/* The address of that tracer's malloc for the calls of shared libraries.  0: none. */
	uintptr_t tracers_malloc;
#endif
	unsigned number;   /* 1 for the program; a later module may get the number of a freed one */
	uint64_t serial;   /* differs from that of every other module, freed ones too */
	bool is_program;   /* the program itself */
	bool is_permanent; /* loaded at the start and never unloaded */
	uint32_t headers;  /* a hash of ELF headers and build-id in memory; 0 if unreadable */
	unsigned char build_id_size;
	unsigned char build_id[LEAKWRAP_BUILD_ID_MAX];
	const char *path; /* absolute if known, else the loader's name; never NULL */
};

/* Returns the executable segment of MODULE that holds ADDRESS, or NULL.  Signal-safe. */
static inline const struct leakwrap_text *leakwrap_module_text(const struct leakwrap_module *module,
                                                               uintptr_t address)
{
	for (unsigned i = 0; i < LEAKWRAP_TEXTS_MAX; i++) {
		const struct leakwrap_text *text = &module->text[i];

		if (address - text->start < text->end - text->start)
			return text;
	}
	return NULL;
}

/* Returns true if the headers of MODULE are still in memory, or could never be read.  Code outside
 * of the wrap may have unloaded a listed module.  Signal-safe; one system call. */
bool leakwrap_module_is_there(const struct leakwrap_module *module);

/* Returns true if MODULE is the kernel's vdso(7).  Signal-safe. */
bool leakwrap_module_is_vdso(const struct leakwrap_module *module);

/* Hashes the first 512 bytes of MODULE, its ELF header and first program headers, and its build-id
 * if that is on the same page: the headers of similar modules may be equal.  They are mapped and
 * unmapped with the module, and they differ from those of a module that takes its place.  Returns 0
 * if they cannot be read.  IS_READABLE: the caller knows that the page can be read.  Signal-safe;
 * one system call unless IS_READABLE. */
uint32_t leakwrap_module_hash_headers(const struct leakwrap_module *module, bool is_readable);

#endif
