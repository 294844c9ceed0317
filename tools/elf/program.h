/* program.h - what the file of a linked program says of its allocations: which functions are wrapped, and who
 * calls them past their wrappers.
 */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include <gelf.h>

#include "tools/elf/calls.h"
#include "tools/util.h"

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
	bool alias;       /* a second name, for which there is no wrapper */
	bool heap;        /* of the heap itself: nothing that it calls is wrapped in its place */
	bool system;      /* no wrapped one, but what allocators take memory by: mmap, sbrk */
	bool named;       /* the link named it as an allocator's (--allocator) */
	bool expected;    /* and so that the program should have it */
	bool imported;    /* from a shared library */
	uint64_t address; /* where it is defined, 0 when it is not */
	uint64_t wrapper; /* where its wrapper is defined, 0 when it is not */
	bool wrapper_is_void; /* its wrapper is referred to but nowhere: a call jumps to address 0 */
	struct callers direct; /* calls that go past the wrapper */
	struct callers behind; /* and those that are perhaps the C library's own */
};

/* A function's code, and whether other objects can call it by NAME. */
struct function {
	uint64_t start, end;
	const char *name;
	bool global;
};

struct program {
	struct entry *entries;
	size_t entry_count;
	int machine;      /* EM_… */
	bool traced;      /* the tracer is in it */
	bool has_symbols; /* else hardly anything is known of the entries */
	bool shared_libc; /* the C library is a shared one */
	bool has_eh_frame, has_eh_frame_hdr, has_build_id;
	const char *cxx_library; /* the shared C++ library that it is linked with, or NULL */
	const char **libraries;  /* all shared libraries that it is linked with */
	size_t library_count, library_room;

	/* By what program.c finds these. */
	int fd;
	Elf *elf;
	struct arena arena;
	struct function *functions;
	size_t function_count, function_room;
	struct function *own_data; /* objects of the tracer's */
	size_t own_data_count, own_data_room;
	uint64_t own_code, own_end; /* the tracer's */
	uint64_t
	        library_code; /* the C library's, roughly: what lies before both is the program's */
	uint64_t got, got_end;
	struct targets targets;
};

/* Reads the file PATH.  Returns false, after a message, when that is no linked ELF file; then there is nothing to
 * close. */
bool program_open(struct program *program, const char *path);

/* Frees all that PROGRAM points to. */
void program_close(struct program *program);

/* Finds the calls past the wrappers, in a program that has symbols.  Of a machine whose code cannot be searched (calls_known)
 * each import without a wrapper counts as one. */
void program_find_calls(struct program *program);

/* The function at PC, or NULL. */
const struct function *program_function_at(const struct program *program, uint64_t pc);

/* Is PC in code of the program, rather than the tracer's or a C library's inside it? */
bool program_owns(const struct program *program, uint64_t pc);

/* Does the program take the function NAME from a shared library? */
bool program_imports(const struct program *program, const char *name);

/* Is NAME that of a function which only the C library itself defines? */
bool is_c_librarys(const char *name);

#endif
