/* modules.h - which files are mapped where: the program and its shared libraries.
 *
 * The list is read from the loader at start and after each dlopen and dlclose (dl_iterate_phdr takes
 * the loader's lock, so it is never called from an allocation or a signal handler), and published as an
 * immutable snapshot.  Records of modules never move or die: a call site whose module has been unloaded
 * still gets its name.
 */
#ifndef LEAKWRAP_MODULES_H
#define LEAKWRAP_MODULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

#define LEAKWRAP_BUILD_ID_MAX 32

/* So many executable segments of a module are known. */
#ifdef LEAKWRAP_BARE
#define LEAKWRAP_TEXTS_MAX 1
#else
#define LEAKWRAP_TEXTS_MAX 4
#endif

/* The code at [start, end). */
struct leakwrap_text {
	uintptr_t start, end;
	bool only_runs; /* the processor may refuse to read it (lld --execute-only) */
};

#ifndef LEAKWRAP_BARE
/* So many segments of a module are known. */
#define LEAKWRAP_SEGMENTS_MAX 8

/* The memory at [start, end) that a module's file asks for.  The rest of its first and last page
 * does not belong to it. */
struct leakwrap_segment {
	uintptr_t start, end;
	bool is_writable;
};
#endif

struct leakwrap_module {
	uintptr_t start, end; /* all its segments lie in [start, end) */
#ifndef LEAKWRAP_BARE
	struct leakwrap_segment segment[LEAKWRAP_SEGMENTS_MAX]; /* END of the unused ones is 0 */
#endif
	/* Its executable segments: nearly always one.  What lies between them need not be mapped. */
	struct leakwrap_text text[LEAKWRAP_TEXTS_MAX];
	uintptr_t bias;           /* address less the address in the file's symbol table */
	const void *eh_frame_hdr; /* PT_GNU_EH_FRAME in memory, or NULL */
	size_t eh_frame_hdr_size;
	const void *exidx;                  /* PT_ARM_EXIDX in memory, or NULL */
	size_t exidx_size;                  /* in bytes */
	uintptr_t tables_start, tables_end; /* the readable segment that holds the unwind tables */
	const void *dynamic;                /* PT_DYNAMIC in memory, or NULL */
	unsigned number;                    /* 1 for the program, then in the order of loading */
	bool main;                          /* the program itself */
	bool permanent;                     /* there from the start: never unloaded */
	uint32_t headers;                   /* a sum of its file's headers in memory */
	unsigned char build_id_size;
	unsigned char build_id[LEAKWRAP_BUILD_ID_MAX];
	const char *path; /* absolute where known, else as the loader names it; never NULL */
};

/* The executable segment of MODULE that ADDRESS lies in, or NULL. */
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

/* The modules that are mapped now, sorted by address. */
struct leakwrap_modules {
	unsigned count;
	const struct leakwrap_module *module[];
};

/* Reads the loader's list and publishes a new snapshot when it has changed.  Takes the loader's lock:
 * never on an allocation path, in a signal handler or in a dump. */
void leakwrap_modules_refresh(void);

/* The current snapshot; never NULL, and valid for ever.  Signal-safe. */
extern LEAKWRAP_HIDDEN const struct leakwrap_modules *_Atomic leakwrap_modules_current;

static inline const struct leakwrap_modules *leakwrap_modules(void)
{
	return atomic_load_explicit(&leakwrap_modules_current, memory_order_acquire);
}

/* The loaded module that ADDRESS lies in, or NULL.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_at(uintptr_t address);

/* The same among MODULES, a snapshot. */
const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address);

/* The same for modules that may have been unloaded since: the last one that was there. */
const struct leakwrap_module *leakwrap_module_ever_at(uintptr_t address);

#ifndef LEAKWRAP_BARE
/* Finds the segment of a loaded module that ADDRESS lies in.  Returns NULL if there is none, or
 * if code outside of the wrap has unloaded the module.  The segment is valid for ever.
 * Signal-safe; one system call if ADDRESS lies in a module that may be unloaded, else none. */
const struct leakwrap_segment *leakwrap_segment_at(uintptr_t address);
#endif

/* Is MODULE, which is listed, still there?  Code outside of the wrap may have unloaded it.  One system call. */
bool leakwrap_module_is_there(const struct leakwrap_module *module);

/* All modules that were ever there have the numbers 1 to leakwrap_modules_count().  Signal-safe. */
unsigned leakwrap_modules_count(void);
const struct leakwrap_module *leakwrap_module_numbered(unsigned number);

/* Number 1; NULL when there was no memory to list it.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_of_program(void);

/* Is the program alone, but for the code that the kernel maps into every process (vdso(7))?  It is when it is
 * static and has loaded nothing.  Signal-safe. */
bool leakwrap_modules_are_program_alone(void);

/* The C library's malloc, or NULL when the program was linked without that wrap; only its address is used. */
extern void *__real_malloc(size_t size) __attribute__((weak));

/* Counts the changes of the snapshot; what was derived from an older one is stale.  Signal-safe. */
unsigned leakwrap_modules_generation(void);

#endif
