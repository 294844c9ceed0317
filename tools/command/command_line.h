/* command_line.h - what a compiler does with its arguments (gcc(1), clang(1)).
 */
#ifndef TOOLS_COMMAND_COMMAND_LINE_H
#define TOOLS_COMMAND_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/base/memory.h"

struct command_line {
	const char **words; /* with the contents of response files in the place of their names */
	size_t count, room;

	bool stops_early;      /* before the link, or only prints something */
	bool makes_no_program; /* the link makes a library or an object, or has no C library */
	bool has_inputs;       /* something to link */
	bool has_language;     /* -x was given, and would apply to the words that are added, too */
	bool has_cxx_library;  /* -lstdc++, -lc++, or clang is told to be a C++ compiler */
	bool has_c_library;    /* -lc */
	bool has_gcc_library;  /* -lgcc */
	bool has_libcxx;       /* -stdlib=libc++ or -lc++ */
	bool is_static;        /* -static or -static-pie, or the next at the end */
	/* From here on: -Wl,-static, without -Wl,-Bdynamic behind it. */
	bool takes_only_static_libraries;
	uint64_t pushed_states; /* the member above at each --push-state; the last is bit 0 */
	/* -static-libstdc++, or the C++ library's name among static ones. */
	bool has_static_libstdcxx;
	bool has_openmp;       /* -fopenmp or a relative: gcc adds libgomp behind all other words */
	bool has_transactions; /* -fgnu-tm: gcc adds libitm so */
	bool names_linker;     /* -fuse-ld= or --ld-path= */
	bool is_lld;           /* ... and it is ld.lld */
	bool is_sanitized;     /* -fsanitize= */
	bool has_no_default_libraries;
	bool has_no_start_files; /* -nostdlib: the compiler adds none */
	bool has_start_file;     /* crtbegin.o or a relative */
	bool wraps_malloc; /* --wrap=malloc: by our flags, by hand, or for a wrapper of its own */
	bool has_archive;  /* libleakwrap.a */
	bool is_marked;    /* our flags are there already */
};

/* Adds WORD, an argument of the compiler, to LINE: the words of the file if it names a response
 * file.  The owner frees line->words. */
void add_words(struct command_line *line, struct arena *arena, const char *word);

/* Reads all words.  Returns true if the compiler links a program and the flags are not there
 * yet. */
bool read_command_line(struct command_line *line);

/* Returns true if the argument of option WORD is the next word. */
bool takes_argument(const char *word);

/* Returns true if WORD names a file to compile or link. */
bool is_input_file(const char *word);

/* Returns true if WORD, which names a file, names an archive or a shared library. */
bool is_library_file(const char *word);

/* Returns the next word for the linker in *REST, what is left behind "-Wl,", and sets *LENGTH.
 * Moves *REST behind it.  Returns NULL at the end. */
const char *next_linker_word(const char **rest, size_t *length);

/* Returns true if the LENGTH bytes at WORD are TEXT. */
bool is_word(const char *word, size_t length, const char *text);

#endif
