/* link.h - the words that a link needs so that the program is traced: the flags of linker-flags.mk,
 * and the files that wrap/generator/generate.sh makes for this program.
 */
#ifndef TOOLS_COMMAND_LINK_H
#define TOOLS_COMMAND_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/base/memory.h"

/* A command line that grows.  The owner frees the vector, not the words. */
struct arguments {
	char **all; /* ends with NULL */
	size_t count, room;
};

void add_argument(struct arguments *arguments, const char *word);

/* The kind of the link, and what the user asked for. */
struct link {
	bool is_cxx;               /* a C++ program */
	bool has_libcxx;           /* ... with clang's C++ library */
	bool has_static_libstdcxx; /* -static-libstdc++ */
	bool has_gcc_library;      /* -lgcc: the compiler may add none behind the runtime */
	bool is_static;            /* -static or -static-pie */
	bool is_lld;
	bool is_sanitized;      /* -fsanitize= */
	bool is_program_only;   /* the calls of shared libraries are not traced */
	const char *allocators; /* in the notation of wrap/generator/generate.sh, or NULL */
	const char *options;    /* the program's default options, or NULL */
	/* The compiler with the flags that select the target.  It compiles what ALLOCATORS and
	 * OPTIONS need. */
	struct arguments compiler;
	const char *output; /* the files' name without its suffix, or NULL for a cache */
	/* What make_inputs has made: the files' name without its suffix, or NULL. */
	const char *inputs;
};

/* Adds LIST, a value of the option --allocator, to the allocators of LINK. */
void add_allocators(struct link *link, const char *list, struct arena *arena);

/* Returns the path of libleakwrap.a: LEAKWRAP_LIB, or beside the tool, or where make install put
 * it.  Ends the tool with a message if it is in none of these places. */
const char *link_archive(struct arena *arena);

/* Runs the command WORDS, with no input, and with its output and its messages on the descriptors
 * OUTPUT and ERRORS.  Returns true if it ended with status 0.  Ends the tool with a message if no
 * process can be made. */
bool run_command(char *const *words, int output, int errors);

/* Makes the files that LINK needs beside libleakwrap.a, for ALLOCATORS and OPTIONS, and sets
 * INPUTS.  Ends the tool with a message if that fails. */
void make_inputs(struct link *link, struct arena *arena);

/* Returns the word that must stand in front of the program's libraries, so that linkers keep an
 * allocator among them.  Returns NULL if LINK needs none. */
const char *link_first_word(const struct link *link, struct arena *arena);

/* Adds all other words that LINK needs to ARGUMENTS.  Runs wrap/generator/generate.sh if its result
 * is not in the cache.  Ends the tool with status 2 if the script refuses the allocators or
 * options; the script prints the message. */
void add_link_words(const struct link *link, struct arguments *arguments, struct arena *arena);

#endif
