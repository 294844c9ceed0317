/* command_line.c - see command_line.h. */
#include "tools/command/command_line.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/numbers.h"

/* -- words ------------------------------------------------------------------------------------- */

bool is_word(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* Returns true if the LENGTH bytes at WORD are one of WORDS, which NULL ends. */
static bool is_word_of(const char *word, size_t length, const char *const *words)
{
	while (*words && !is_word(word, length, *words))
		words++;
	return *words != NULL;
}

/* Returns true if WORD is one of WORDS, which NULL ends. */
static bool is_one_of(const char *word, const char *const *words)
{
	return is_word_of(word, strlen(word), words);
}

bool takes_argument(const char *word)
{
	static const char *const options[] = {
	        "-o",
	        "-x",
	        "-I",
	        "-L",
	        "-D",
	        "-U",
	        "-l",
	        "-B",
	        "-T",
	        "-u",
	        "-z",
	        "-e",
	        "-A",
	        "-F",
	        "-include",
	        "-imacros",
	        "-isystem",
	        "-idirafter",
	        "-iquote",
	        "-iprefix",
	        "-iwithprefix",
	        "-iwithprefixbefore",
	        "-isysroot",
	        "-imultilib",
	        "--sysroot",
	        "-MF",
	        "-MT",
	        "-MQ",
	        "-MJ",
	        "-Xlinker",
	        "-Xassembler",
	        "-Xpreprocessor",
	        "-Xclang",
	        "-Xanalyzer",
	        "-mllvm",
	        "-arch",
	        "-target",
	        "--target",
	        "-wrapper",
	        "-aux-info",
	        "-dumpbase",
	        "-dumpbase-ext",
	        "-dumpdir",
	        "--param",
	        "--entry",
	        "--library-directory",
	        "-gcc-toolchain",
	        "--output",
	        "-main-file-name",
	        "-framework",
	        "-G",
	        NULL,
	};
	return is_one_of(word, options);
}

/* Returns true if option WORD ends the compiler before the link, or makes it only print
 * something. */
static bool is_stopping(const char *word)
{
	static const char *const options[] = {
	        "-c",
	        "-S",
	        "-E",
	        "-M",
	        "-MM",
	        "-fsyntax-only",
	        "-###",
	        "-cc1",
	        "-cc1as",
	        "--precompile",
	        "-emit-ast",
	        "--analyze",
	        "--version",
	        "-dumpversion",
	        "-dumpfullversion",
	        "-dumpmachine",
	        "-dumpspecs",
	        "--help",
	        "--target-help",
	        "-V",
	        "--assemble",
	        "--compile",
	        "--preprocess",
	        NULL,
	};
	return is_one_of(word, options) || strncmp(word, "-print-", 7) == 0 ||
	       strncmp(word, "--print-", 8) == 0 || strncmp(word, "--help=", 7) == 0;
}

const char *next_linker_word(const char **rest, size_t *length)
{
	const char *word = **rest ? *rest : NULL;

	*length = strcspn(*rest, ",");
	*rest += *length + ((*rest)[*length] == ',');
	return word;
}

/* Reads the LENGTH bytes at NAME, the name of a library's file. */
static void read_library_file(struct command_line *line, const char *name, size_t length)
{
	const bool libcxx = is_word(name, length, "libc++.a");

	if (libcxx || is_word(name, length, "libstdc++.a"))
		line->has_cxx_library = line->has_static_libstdcxx = true;
	line->has_libcxx = line->has_libcxx || libcxx;
	if (is_word(name, length, "libleakwrap.a"))
		line->has_archive = true;
	if (length >= 10 && strncmp(name, "crtbegin", 8) == 0 &&
	    is_word(name + length - 2, 2, ".o"))
		line->has_start_file = true;
}

/* Reads the LENGTH bytes at NAME, which name a library without "lib" and a suffix, or its file
 * behind a colon. */
static void read_library_name(struct command_line *line, const char *name, size_t length)
{
	const bool libcxx = is_word(name, length, "c++");

	if (name[0] == ':')
		read_library_file(line, name + 1, length - 1);
	if (libcxx || is_word(name, length, "stdc++")) {
		line->has_cxx_library = true;
		line->has_static_libstdcxx =
		        line->has_static_libstdcxx || line->takes_only_static_libraries;
	}
	line->has_libcxx = line->has_libcxx || libcxx;
	line->has_c_library = line->has_c_library || is_word(name, length, "c");
	line->has_gcc_library = line->has_gcc_library || is_word(name, length, "gcc");
}

/* Reads the LENGTH bytes at WORD if they say which libraries the linker takes from here on. */
static void read_library_kind(struct command_line *line, const char *word, size_t length)
{
	static const char *const only_static[] = {"-static", "-Bstatic", "-dn", "-non_shared",
	                                          NULL};
	static const char *const also_shared[] = {"-Bdynamic", "-dy", "-call_shared", NULL};

	if (is_word_of(word, length, only_static)) {
		line->takes_only_static_libraries = true;
	} else if (is_word_of(word, length, also_shared)) {
		line->takes_only_static_libraries = false;
	} else if (is_word(word, length, "--push-state")) {
		line->pushed_states = line->pushed_states << 1 | line->takes_only_static_libraries;
	} else if (is_word(word, length, "--pop-state")) {
		line->takes_only_static_libraries = line->pushed_states & 1;
		line->pushed_states >>= 1;
	}
}

/* Reads the LENGTH bytes at WORD, which are a word for the linker. */
static void read_linker_word(struct command_line *line, const char *word, size_t length)
{
	static const char *const not_programs[] = {"-r",          "-shared", "--shared",
	                                           "-Bshareable", "-i",      "--relocatable",
	                                           "--version",   "--help",  NULL};

	read_library_kind(line, word, length);
	if (is_word_of(word, length, not_programs))
		line->makes_no_program = true;
	if (length > 2 && strncmp(word, "-l", 2) == 0)
		read_library_name(line, word + 2, length - 2);
	if (is_word(word, length, "--wrap=malloc"))
		line->wraps_malloc = true;
	if (is_word(word, length, "leakwrap_wraps_are_complete"))
		line->is_marked = true;
}

static bool has_suffix(const char *word, const char *suffix)
{
	size_t length = strlen(word), tail = strlen(suffix);
	return length >= tail && strcmp(word + length - tail, suffix) == 0;
}

static bool is_header(const char *word)
{
	return has_suffix(word, ".h") || has_suffix(word, ".hh") || has_suffix(word, ".hpp") ||
	       has_suffix(word, ".hxx") || has_suffix(word, ".H");
}

bool is_library_file(const char *word)
{
	return has_suffix(word, ".a") || has_suffix(word, ".so") || strstr(base_name(word), ".so.");
}

bool is_input_file(const char *word)
{
	static const char *const suffixes[] = {".c",  ".cc", ".cpp", ".cxx", ".C",   ".c++", ".i",
	                                       ".ii", ".s",  ".S",   ".o",   ".obj", ".lo",  ".m"};
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (has_suffix(word, suffixes[i]))
			return true;
	return is_header(word) || is_library_file(word);
}

/* Reads the argument of -x. */
static void read_language(struct command_line *line, const char *language)
{
	line->has_language = strcmp(language, "none") != 0;
	if (has_suffix(language, "-header")) /* to be precompiled */
		line->stops_early = true;
}

/* Reads WORD if it is "-fuse-ld=lld", "-fuse-ld=lld-14" or "--ld-path=/usr/bin/ld.lld".  Returns
 * false if it is another option. */
static bool read_linker_choice(struct command_line *line, const char *word)
{
	if (strncmp(word, "-fuse-ld=", 9) != 0 && strncmp(word, "--ld-path=", 10) != 0)
		return false;
	line->names_linker = true;
	line->is_lld = strstr(base_name(strchr(word, '=') + 1), "lld") != NULL;
	return true;
}

static bool is_static_option(const char *word)
{
	return strcmp(word, "-static") == 0 || strcmp(word, "--static") == 0 ||
	       strcmp(word, "-static-pie") == 0 || strcmp(word, "--static-pie") == 0;
}

/* Returns true if gcc links libgomp for the option WORD. */
static bool adds_openmp(const char *word)
{
	return strcmp(word, "-fopenmp") == 0 || strcmp(word, "-fopenacc") == 0 ||
	       strncmp(word, "-ftree-parallelize-loops=", 25) == 0;
}

/* Reads the argument of -l. */
static void read_library(struct command_line *line, const char *name)
{
	line->has_inputs = true;
	read_library_name(line, name, strlen(name));
}

/* Reads the option WORD, which has no argument in the next word. */
static void read_option(struct command_line *line, const char *word)
{
	static const char *const no_programs[] = {"-shared",       "--shared",    "-r", "-nolibc",
	                                          "-nostartfiles", "-dynamiclib", NULL};
	if (is_one_of(word, no_programs))
		line->makes_no_program = true;
	if (is_stopping(word))
		line->stops_early = true;
	else if (strncmp(word, "-Wl,", 4) == 0) {
		size_t length;
		word += 4;
		for (const char *part; (part = next_linker_word(&word, &length)) != NULL;)
			read_linker_word(line, part, length);
	} else if (strncmp(word, "-x", 2) == 0 && word[2])
		read_language(line, word + 2);
	else if (is_static_option(word))
		line->is_static = true;
	else if (adds_openmp(word))
		line->has_openmp = true;
	else if (strcmp(word, "-fgnu-tm") == 0)
		line->has_transactions = true;
	else if (strcmp(word, "--driver-mode=g++") == 0)
		line->has_cxx_library = true;
	else if (strcmp(word, "-nodefaultlibs") == 0)
		line->has_no_default_libraries = true;
	else if (strcmp(word, "-nostdlib") == 0 || strcmp(word, "--no-standard-libraries") == 0)
		line->has_no_default_libraries = line->has_no_start_files = true;
	else if (strcmp(word, "-static-libstdc++") == 0)
		line->has_static_libstdcxx = true;
	else if (strcmp(word, "-stdlib=libc++") == 0)
		line->has_libcxx = true;
	else if (read_linker_choice(line, word))
		return;
	else if (strncmp(word, "-fsanitize=", 11) == 0)
		line->is_sanitized = true;
	else if (strncmp(word, "-l", 2) == 0 && word[2])
		read_library(line, word + 2);
}

/* Reads OPTION with ARGUMENT, the next word. */
static void read_argument(struct command_line *line, const char *option, const char *argument)
{
	if (strcmp(option, "-x") == 0) {
		read_language(line, argument);
	} else if (strcmp(option, "-Xlinker") == 0) {
		read_linker_word(line, argument, strlen(argument));
	} else if (strcmp(option, "-l") == 0) {
		read_library(line, argument);
	}
}

static void read_input(struct command_line *line, const char *word)
{
	read_library_file(line, base_name(word), strlen(base_name(word)));
	if (!is_header(word))
		line->has_inputs = true;
}

/* -- response files ---------------------------------------------------------------------------- */

static void add_word(struct command_line *line, const char *word)
{
	GROW(line->words, line->room, line->count + 1);
	line->words[line->count++] = word;
}

static void add_words_within(struct command_line *line, struct arena *arena, const char *word,
                             unsigned depth);

/* Adds the words in TEXT, the contents of a response file.  White space separates words, ' and "
 * quote, and a backslash escapes (gcc(1), @file). */
static void split_words(struct command_line *line, struct arena *arena, const char *text,
                        unsigned depth)
{
	/* Room for all words: a word with its NUL is no longer than the word and the space behind
	 * it in TEXT. */
	char *p = arena_alloc(arena, strlen(text) + 1);

	for (;;) {
		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			return;
		const char *word = p;
		for (int quote = 0; *text && (quote || !isspace((unsigned char)*text)); text++) {
			if (*text == '\\' && text[1])
				*p++ = *++text;
			else if (quote ? *text == quote : *text == '\'' || *text == '"')
				quote = quote ? 0 : *text;
			else
				*p++ = *text;
		}
		*p++ = '\0';
		add_words_within(line, arena, word, depth + 1);
	}
}

/* Returns the text of the file PATH, or NULL if it is no regular file that can be read. */
static char *read_whole(struct arena *arena, const char *path)
{
	FILE *stream = fopen(path, "re");
	struct stat status;
	if (!stream)
		return NULL;
	char *text = NULL;
	if (fstat(fileno(stream), &status) == 0 && S_ISREG(status.st_mode)) {
		text = arena_alloc(arena, to_size((uint64_t)status.st_size + 1));
		size_t got = fread(text, 1, (size_t)status.st_size, stream);
		text[got] = '\0';
	}
	fclose(stream);
	return text;
}

static void add_words_within(struct command_line *line, struct arena *arena, const char *word,
                             unsigned depth)
{
	char *text = word[0] == '@' && depth < 16 ? read_whole(arena, word + 1) : NULL;
	if (text)
		split_words(line, arena, text, depth);
	else
		add_word(line, word);
}

void add_words(struct command_line *line, struct arena *arena, const char *word)
{
	add_words_within(line, arena, word, 0);
}

/* -- the decision ------------------------------------------------------------------------------ */

bool read_command_line(struct command_line *line)
{
	bool only_inputs = false; /* after -- */
	for (size_t i = 0; i < line->count; i++) {
		const char *word = line->words[i];
		if (only_inputs || word[0] != '-' || word[1] == '\0')
			read_input(line, word);
		else if (strcmp(word, "--") == 0)
			only_inputs = true;
		else if (takes_argument(word) && i + 1 < line->count)
			read_argument(line, word, line->words[++i]);
		else
			read_option(line, word);
	}
	/* The C library comes last. */
	line->is_static = line->is_static || line->takes_only_static_libraries;
	/* rustc gives -nodefaultlibs and -lc, others -nostdlib, -lc and startup files. */
	bool has_c_library = !line->has_no_default_libraries || line->has_c_library;
	/* Some choose functions by hand, and name the archive. */
	bool is_wrapped = line->is_marked || (line->has_archive && line->wraps_malloc);
	bool has_start_files = !line->has_no_start_files || line->has_start_file;
	return line->has_inputs && has_c_library && has_start_files && !line->stops_early &&
	       !line->makes_no_program && !is_wrapped;
}
