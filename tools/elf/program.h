/* program.h - the allocating functions of a linked program: which are wrapped, and who calls them
 * past their wrappers. */
#ifndef TOOLS_ELF_PROGRAM_H
#define TOOLS_ELF_PROGRAM_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/memory.h"
#include "tools/elf/calls.h"
#include "tools/elf/dynamic_symbols.h"

/* Places in the code. */
struct callers {
	size_t calls;
	const char *names; /* the first few, as text */
	const char *last;  /* the last one listed */
	size_t listed;
};

/* A wrapped function. */
struct entry {
	const char *name;
	bool alias;        /* another name of a function, without a wrapper */
	bool heap;         /* of the heap itself: no function that it calls is wrapped instead */
	bool system;       /* not wrapped: gives allocators their memory (mmap, sbrk) */
	bool named;        /* the link named it as an allocator's (--allocator) */
	bool expected;     /* the program should have it */
	bool imported;     /* from a shared library */
	uint64_t address;  /* of its definition, or 0 */
	uint64_t visible;  /* of the definition in the program that shared libraries find, or 0 */
	uint64_t wrapper;  /* of its wrapper's definition, or 0 */
	uint64_t exported; /* of the tracer's definition for the whole process, or 0 */
	struct callers direct; /* calls that go past the wrapper */
	struct callers behind; /* calls that may be the C library's own */
};

/* A function's code, and whether other objects can call it by NAME. */
struct function {
	uint64_t start, end;
	const char *name;
	bool global;
};

/* A wrapper in the program, of whomever. */
struct wrapper {
	const char *function; /* without __wrap_ */
	uint64_t address;
};

struct program {
	struct entry *entries;
	size_t entry_count;
	int machine;      /* EM_… */
	bool traced;      /* the tracer is in it */
	bool has_symbols; /* the tracer's are there: without them the entries are hardly known */
	bool shared_libc; /* the C library is a shared one */
	bool has_eh_frame, has_eh_frame_hdr, has_build_id;
	const char *cxx_library; /* the shared C++ library that it is linked with, or NULL */
	const char **libraries;  /* all shared libraries that it is linked with */
	size_t library_count, library_room;
	const char *path;     /* as program_open got it */
	const char *run_path; /* where the loader looks for the libraries first, or NULL */
	/* Functions whose wrappers are undefined and weak: a call jumps to address 0. */
	const char **void_wrappers;
	size_t void_count, void_room;
	/* All wrappers of wrapped functions, see is_own_wrapper. */
	struct wrapper *wrappers;
	size_t wrapper_count, wrapper_room;

	/* program.c's own: */
	int fd;
	Elf *elf;
	struct arena arena;
	struct function *functions;
	size_t function_count, function_room;
	struct function *own_data; /* objects of the tracer's */
	size_t own_data_count, own_data_room;
	uint64_t own_code, own_end; /* the tracer's */
	uint64_t library_code; /* about where the C library starts; the program is before both */
	uint64_t got, got_end;
	/* The linker made all functions local that no library uses, as mold does: nothing tells
	 * functions that other objects can call. */
	bool is_all_local;
	struct targets targets;
};

/* Reads the file PATH.  Returns false, after a message, if it is no linked ELF file.  Then PROGRAM
 * needs no program_close. */
bool program_open(struct program *program, const char *path);

/* Frees all that PROGRAM points to. */
void program_close(struct program *program);

/* Returns the function at PC, or NULL. */
const struct function *program_function_at(const struct program *program, uint64_t pc);

/* Returns true if PC is in the tracer's code. */
static inline bool program_has_tracer_at(const struct program *program, uint64_t pc)
{
	return pc >= program->own_code && pc < program->own_end;
}

/* Returns true if PC is in code of the program itself, not of the tracer or a static C library. */
bool program_has_code_at(const struct program *program, uint64_t pc);

/* Returns true if MATCHES accepts a symbol that the program imports (dynamic_symbols.h). */
bool program_any_import(const struct program *program, symbol_matches *matches,
                        const void *context);

/* Returns true if the program imports the function NAME from a shared library. */
bool program_imports(const struct program *program, const char *name);

/* Returns true if the program exports the function NAME to shared libraries. */
bool program_exports(const struct program *program, const char *name);

/* Returns true if calls of ENTRY's name reach the tracer, also those of shared libraries: its
 * definition is the tracer's. */
static inline bool entry_is_exported(const struct entry *entry)
{
	return entry->exported != 0 && entry->exported == entry->address;
}

/* Returns true if the program has a wrapper of the function NAME.  PROGRAM has symbols. */
bool program_wraps(const struct program *program, const char *name);

/* Returns true if it can be told whether the program traces the calls of its shared libraries: it
 * has symbols, or the section of the tracer's code, which strip leaves. */
bool program_tells_coverage(const struct program *program);

/* Returns true if the program traces the calls of its shared libraries, as far as it tells. */
bool program_covers_libraries(const struct program *program);

/* Returns true if the tracer's malloc is in the program, and shared libraries do not find it: the
 * link has taken it out of the dynamic symbols.  PROGRAM has symbols. */
bool program_hides_malloc(const struct program *program);

/* Returns true if WRAPPER is the program's own, not the tracer's.  PROGRAM has symbols. */
bool is_own_wrapper(const struct program *program, const struct wrapper *wrapper);

/* Returns the entry of the function NAME, or NULL. */
const struct entry *program_entry(const struct program *program, const char *name);

#endif
