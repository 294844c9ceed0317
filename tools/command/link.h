/* link.h - the words that a linker's command line needs so that the program is traced: the flags of
 * linker-flags.mk, and what wrap/generator/generate.sh makes for this program.
 */
#ifndef TOOLS_LINK_H
#define TOOLS_LINK_H

#include "tools/util.h"

/* A command line that grows.  The vector is the owner's to free, the words are not. */
struct arguments {
	char **all; /* ends with NULL */
	size_t count, room;
};

void add_argument(struct arguments *arguments, const char *word);

/* What is linked, and what the user asked for. */
struct link {
	bool cxx, libcxx;      /* C++; with clang's library */
	bool static_libstdcxx; /* -static-libstdc++ */
	bool statically;       /* -static or -static-pie */
	bool lld;
	const char *allocators; /* in the notation of wrap/generator/generate.sh, or NULL */
	const char *options;    /* the program's default options, or NULL */
	struct arguments
	        compiler;   /* with the flags that select the target; of use for the two before */
	const char *output; /* where to put what is made, without a suffix; NULL: a cache */
};

/* Returns the path of libleakwrap.a: what LEAKWRAP_LIB names, or beside the tool, or where make
 * install put it. Ends the tool with a message if it is nowhere. */
const char *link_archive(struct arena *arena);

/* Adds all words of LINK.  Runs wrap/generator/generate.sh if its result is not in the cache; ends the
 * tool with status 2 if that refuses, after its message. */
void link_add(const struct link *link, struct arguments *arguments, struct arena *arena);

#endif
