/* modules.h - the registry of modules: the program and its shared libraries, and where they are
 * mapped.
 *
 * The tracer reads the loader's list at start and after each dlopen and dlclose, and publishes it
 * as an immutable snapshot.  An allocation adds what a shared library has loaded: with glibc by
 * itself, because dl_iterate_phdr takes the loader's lock, with musl by reading the list again
 * (unlisted.c).
 *
 * A call site whose module was unloaded still has its module's name: it holds the snapshot of its
 * time.  A snapshot that nobody holds is freed some time after it was current, and with it the
 * records of modules that no other snapshot lists.  Threads read snapshots and tell nobody, so
 * both rest for ten seconds or more before their memory is used again.
 */
#ifndef LEAKWRAP_MODULES_H
#define LEAKWRAP_MODULES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wrap/base/common.h"

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
	/* Execute-only memory: it may not be readable (lld --execute-only). */
	bool is_only_executed;
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

/* A module.  Immutable. */
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

/* A snapshot: the modules that were mapped at one time, sorted by address. */
struct leakwrap_modules {
	unsigned count;
	bool are_permanent; /* there are modules, and none is ever unloaded */
	uint64_t serial;    /* differs from that of every other snapshot, freed ones too */
	const struct leakwrap_module *module[];
};

/* Reads the loader's list and publishes a new snapshot if it has changed.  Takes the loader's lock
 * and the tables' lock: never call it in an allocation, in a signal handler or in a dump.
 * Preserves errno. */
void leakwrap_modules_refresh(void);

#ifndef LEAKWRAP_BARE
/* Refreshes like leakwrap_modules_refresh after the program has loaded a module with RTLD_DEEPBIND:
 * the calls of the new modules are bound to the C library's malloc. */
void leakwrap_modules_refresh_deepbind(void);

/* To be called before and after the calling thread loads modules by dlopen(3), whose constructors
 * may allocate.  BINDS_DEEP: with RTLD_DEEPBIND.  leakwrap_modules_end_load refreshes the list.
 * Calls may be nested.  Neither is for signal handlers. */
void leakwrap_modules_begin_load(bool binds_deep);
void leakwrap_modules_end_load(void);

/* Returns true if modules have been loaded or unloaded since the last refresh: by a shared library,
 * whose calls are not wrapped.  Takes the loader's lock. */
bool leakwrap_modules_are_stale(void);

/* Returns true if each loaded module is certainly listed.  Reads the list for debuggers without the
 * loader's lock: returns false if it changes meanwhile, or if there is none.  Signal-safe; a few
 * system calls for each module. */
bool leakwrap_modules_are_listed(void);

/* Lists the module that holds ADDRESS if it is not listed, or if another module is listed in its
 * place.  The code at ADDRESS has called the calling thread's function, so it stays loaded.
 * Returns true if a module was listed.  Takes the tables' lock; with musl and with an old glibc the
 * loader's, too, which is safe there (unlisted.c).  Preserves errno. */
bool leakwrap_modules_list_unseen(uintptr_t address);

/* Does what leakwrap_modules_list_unseen does, for the modules of the code in front of the COUNT
 * return addresses at PCS. */
bool leakwrap_modules_list_callers(const uintptr_t *pcs, unsigned count);

/* Adds FOUND, a loaded module, to the current snapshot, in the place of modules that were where it
 * is.  Returns false if there is no memory.  The caller holds the tables' lock. */
bool leakwrap_modules_add(struct leakwrap_module *found);

/* Notes that the program has loaded a module into a namespace of its own, which the loader's list
 * does not show (dlmopen(3)).  Signal-safe. */
void leakwrap_modules_note_namespace(void);

/* Returns whether a namespace was noted.  Signal-safe. */
bool leakwrap_modules_have_namespaces(void);

/* Sets the function that each change of the current snapshot calls, after it.  It is called with
 * the tables' lock held, so signals are blocked.  The runtime sets it once at its start, before it
 * reads the loader's list.  Earlier changes call nothing: no call site exists yet. */
void leakwrap_modules_set_change_hook(void (*on_change)(void));
#endif

/* The current snapshot.  It is never NULL.  Signal-safe. */
extern LEAKWRAP_HIDDEN const struct leakwrap_modules *_Atomic leakwrap_modules_current;

/* Returns the current snapshot.  Signal-safe. */
static inline const struct leakwrap_modules *leakwrap_modules(void)
{
	return atomic_load_explicit(&leakwrap_modules_current, memory_order_acquire);
}

/* Returns the module of the current snapshot that holds ADDRESS, or NULL.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_at(uintptr_t address);

/* Returns the module of the snapshot MODULES that holds ADDRESS, or NULL.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_among(const struct leakwrap_modules *modules,
                                                    uintptr_t address);

/* Returns the module of the snapshot MODULES that holds ADDRESS, if it is not loaded any more.
 * Returns NULL if it is loaded, and if MODULES is NULL.  Signal-safe. */
static inline const struct leakwrap_module *
leakwrap_module_gone(const struct leakwrap_modules *modules, uintptr_t address)
{
	const struct leakwrap_module *then = modules && modules != leakwrap_modules()
	                                             ? leakwrap_module_among(modules, address)
	                                             : NULL;

	return then && then != leakwrap_module_at(address) ? then : NULL;
}

#ifndef LEAKWRAP_BARE
/* Keeps MODULES, the current snapshot or one that is held, until it is released as often.  The
 * caller holds the tables' lock. */
void leakwrap_modules_hold(const struct leakwrap_modules *modules);
void leakwrap_modules_release(const struct leakwrap_modules *modules);

/* Returns whether the snapshots that are held are too many, so that their holders should be looked
 * through.  If so, starts to count anew.  Takes no lock. */
bool leakwrap_modules_claim_sweep(void);
#endif

/* Returns the module that holds ADDRESS, loaded or not, or NULL.  Of several modules, returns the
 * module of the current snapshot, else the newest record.  Looks at all records if ADDRESS is in no
 * module of the current snapshot.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_ever_at(uintptr_t address);

#ifndef LEAKWRAP_BARE
/* Finds the segment of a loaded module that holds ADDRESS.  Returns NULL if there is none, or
 * if code outside of the wrap has unloaded the module.
 * Signal-safe; one system call if ADDRESS lies in a module that may be unloaded, else none. */
const struct leakwrap_segment *leakwrap_segment_at(uintptr_t address);
#endif

/* Returns true if the headers of MODULE are still in memory, or could never be read.  Code outside
 * of the wrap may have unloaded a listed module.  Signal-safe; one system call. */
bool leakwrap_module_is_there(const struct leakwrap_module *module);

/* Returns the highest module number.  Signal-safe. */
unsigned leakwrap_modules_count(void);

/* Returns the module NUMBER, or NULL if there is none.  Signal-safe. */
const struct leakwrap_module *leakwrap_module_numbered(unsigned number);

/* Returns the program, number 1.  Returns NULL if there was no memory for its record.
 * Signal-safe. */
const struct leakwrap_module *leakwrap_module_of_program(void);

/* Returns true if MODULE is the kernel's vdso(7).  Signal-safe. */
bool leakwrap_module_is_vdso(const struct leakwrap_module *module);

/* Returns true if the program has always been the only module, the kernel's vdso(7) aside: it is
 * static and has loaded nothing so far.  Signal-safe. */
bool leakwrap_modules_are_program_alone(void);

/* Returns the number of changes of the snapshot, and of what else is known as code.  Data derived
 * under another number is stale.  Signal-safe. */
unsigned leakwrap_modules_generation(void);

#ifndef LEAKWRAP_BARE
/* Begins a new generation: memory outside of modules has become known as code.  Signal-safe. */
void leakwrap_modules_begin_generation(void);
#endif

#endif
