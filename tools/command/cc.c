/* cc.c - the command cc: runs a compiler, with the flags of linker-flags.mk if it links a program.
 *
 * The compiler takes the place of this process.  This command prints nothing unless it fails: build
 * systems read what a compiler prints.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/command/commands.h"
#include "tools/command/link.h"

/* -- reading the command line ------------------------------------------------------------------ */

struct command_line {
	const char **words; /* with the contents of response files in the place of their names */
	size_t count, room;

	bool stops_early;  /* before the link, or only prints something */
	bool no_program;   /* the link makes a library or an object, or has no C library */
	bool has_inputs;   /* something to link */
	bool has_language; /* -x was given, and would apply to the words that are added, too */
	bool cxx_library;  /* -lstdc++ */
	bool c_library;    /* -lc */
	bool libcxx;       /* -stdlib=libc++ */
	bool statically;   /* -static or -static-pie */
	bool static_libstdcxx;
	bool openmp; /* -fopenmp: gcc adds libgomp behind all other words */
	bool lld;
	bool sanitized; /* -fsanitize= */
	bool no_default_libraries;
	bool wraps_malloc; /* --wrap=malloc: by our flags, by hand, or for a wrapper of its own */
	bool archive;      /* libleakwrap.a */
	bool marked;       /* our flags are there already */
};

/* Returns true if the argument of option WORD is the next word (gcc(1), clang(1)). */
static bool takes_argument(const char *word)
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
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (strcmp(word, options[i]) == 0)
			return true;
	return false;
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
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (strcmp(word, options[i]) == 0)
			return true;
	return strncmp(word, "-print-", 7) == 0 || strncmp(word, "--print-", 8) == 0 ||
	       strncmp(word, "--help=", 7) == 0;
}

/* Returns true if the LENGTH bytes at WORD are TEXT. */
static bool is_word(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && memcmp(word, text, length) == 0;
}

/* Reads the LENGTH bytes at WORD, which are a word for the linker. */
static void read_linker_word(struct command_line *line, const char *word, size_t length)
{
	static const char *const not_programs[] = {"-r",          "-shared", "--shared",
	                                           "-Bshareable", "-i",      "--relocatable",
	                                           "--version",   "--help"};
	for (size_t i = 0; i < sizeof not_programs / sizeof *not_programs; i++)
		if (is_word(word, length, not_programs[i]))
			line->no_program = true;
	if (is_word(word, length, "--wrap=malloc"))
		line->wraps_malloc = true;
	if (is_word(word, length, "leakwrap_wraps_are_complete"))
		line->marked = true;
	if (is_word(word, length, "-static"))
		line->statically = true;
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

/* Reads the argument of -x. */
static void read_language(struct command_line *line, const char *language)
{
	line->has_language = strcmp(language, "none") != 0;
	if (has_suffix(language, "-header")) /* to be precompiled */
		line->stops_early = true;
}

/* Returns true if WORD is "-fuse-ld=lld", "-fuse-ld=lld-14" or "--ld-path=/usr/bin/ld.lld". */
static bool is_choice_of_lld(const char *word)
{
	const char *linker = strchr(word, '=');
	return linker && strstr(base_name(linker + 1), "lld") &&
	       (strncmp(word, "-fuse-ld=", 9) == 0 || strncmp(word, "--ld-path=", 10) == 0);
}

static bool is_static_option(const char *word)
{
	return strcmp(word, "-static") == 0 || strcmp(word, "--static") == 0 ||
	       strcmp(word, "-static-pie") == 0 || strcmp(word, "--static-pie") == 0;
}

/* Reads NAME, the name of a library's file. */
static void read_library_file(struct command_line *line, const char *name)
{
	bool libcxx = strcmp(name, "libc++.a") == 0;

	if (libcxx || strcmp(name, "libstdc++.a") == 0)
		line->cxx_library = line->static_libstdcxx = true;
	line->libcxx = line->libcxx || libcxx;
	if (strcmp(name, "libleakwrap.a") == 0)
		line->archive = true;
}

/* Reads the argument of -l. */
static void read_library(struct command_line *line, const char *name)
{
	line->has_inputs = true;
	if (name[0] == ':')
		read_library_file(line, name + 1);
	line->cxx_library = line->cxx_library || strcmp(name, "stdc++") == 0;
	line->c_library = line->c_library || strcmp(name, "c") == 0;
}

/* Reads the option WORD, which has no argument in the next word. */
static void read_option(struct command_line *line, const char *word)
{
	static const char *const no_programs[] = {
	        "-shared", "--shared",      "-r",         "-nostdlib", "--no-standard-libraries",
	        "-nolibc", "-nostartfiles", "-dynamiclib"};
	for (size_t i = 0; i < sizeof no_programs / sizeof *no_programs; i++)
		if (strcmp(word, no_programs[i]) == 0)
			line->no_program = true;
	if (is_stopping(word))
		line->stops_early = true;
	else if (strncmp(word, "-Wl,", 4) == 0) {
		for (const char *part = word + 4; *part;) {
			size_t length = strcspn(part, ",");
			read_linker_word(line, part, length);
			part += length + (part[length] == ',');
		}
	} else if (strncmp(word, "-x", 2) == 0 && word[2])
		read_language(line, word + 2);
	else if (is_static_option(word))
		line->statically = true;
	else if (strcmp(word, "-fopenmp") == 0)
		line->openmp = true;
	else if (strcmp(word, "-nodefaultlibs") == 0)
		line->no_default_libraries = true;
	else if (strcmp(word, "-static-libstdc++") == 0)
		line->static_libstdcxx = true;
	else if (strcmp(word, "-stdlib=libc++") == 0)
		line->libcxx = true;
	else if (is_choice_of_lld(word))
		line->lld = true;
	else if (strncmp(word, "-fsanitize=", 11) == 0)
		line->sanitized = true;
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
	read_library_file(line, base_name(word));
	if (!is_header(word))
		line->has_inputs = true;
}

/* -- response files ---------------------------------------------------------------------------- */

static void add_word(struct command_line *line, const char *word)
{
	GROW(line->words, line->room, line->count + 1);
	line->words[line->count++] = word;
}

static void add_words(struct command_line *line, struct arena *arena, const char *word,
                      unsigned depth);

/* Adds the words in TEXT, the contents of a response file.  White space separates words, ' and "
 * quote, and a backslash escapes (gcc(1), @file). */
static void split_words(struct command_line *line, struct arena *arena, const char *text,
                        unsigned depth)
{
	for (;;) {
		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			return;
		char *word = arena_alloc(arena, strlen(text) + 1), *p = word;
		for (int quote = 0; *text && (quote || !isspace((unsigned char)*text)); text++) {
			if (*text == '\\' && text[1])
				*p++ = *++text;
			else if (quote ? *text == quote : *text == '\'' || *text == '"')
				quote = quote ? 0 : *text;
			else
				*p++ = *text;
		}
		add_words(line, arena, word, depth + 1);
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
		text = arena_alloc(arena, (size_t)status.st_size + 1);
		size_t got = fread(text, 1, (size_t)status.st_size, stream);
		text[got] = '\0';
	}
	fclose(stream);
	return text;
}

static void add_words(struct command_line *line, struct arena *arena, const char *word,
                      unsigned depth)
{
	char *text = word[0] == '@' && depth < 16 ? read_whole(arena, word + 1) : NULL;
	if (text)
		split_words(line, arena, text, depth);
	else
		add_word(line, word);
}

/* -- the decision ------------------------------------------------------------------------------ */

/* Reads all words.  Returns true if the compiler links a program and the flags are not there
 * yet. */
static bool read_command_line(struct command_line *line)
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
	/* rustc gives -nodefaultlibs and -lc. */
	bool has_c_library = !line->no_default_libraries || line->c_library;
	/* Some choose functions by hand, and name the archive. */
	bool is_wrapped = line->marked || (line->archive && line->wraps_malloc);
	return line->has_inputs && has_c_library && !line->stops_early && !line->no_program &&
	       !is_wrapped;
}

/* Returns true if WORD is "gcc", "clang++-14" or "arm-linux-gnueabihf-c++", and not "ccache". */
static bool is_compiler(const char *word)
{
	static const char *const names[] = {"cc",      "c++", "gcc", "g++", "clang",
	                                    "clang++", "tcc", "icc", "icx", "icpx"};
	const char *name = base_name(word), *end = name + strlen(name);
	while (end > name && strchr("0123456789.-", end[-1]))
		end--;
	for (const char *p = name; p < end; p++)
		if (*p == '-')
			name = p + 1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_word(name, (size_t)(end - name), names[i]))
			return true;
	return false;
}

/* Returns true if WORD names a file to compile or link. */
static bool is_input_file(const char *word)
{
	static const char *const suffixes[] = {".c",  ".cc", ".cpp", ".cxx", ".C", ".c++",
	                                       ".i",  ".ii", ".s",   ".S",   ".o", ".obj",
	                                       ".lo", ".a",  ".so",  ".m"};
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (has_suffix(word, suffixes[i]))
			return true;
	return is_header(word) || strstr(base_name(word), ".so.");
}

/* Returns how many of WORDS name the compiler: 1 for "gcc", 2 for "ccache gcc".  The last of them
 * is the first word that is called like a compiler.  If no word is, they end before the first
 * option or input file. */
static size_t count_compiler_words(char *const *words)
{
	size_t count = 0;
	while (words[count] && words[count][0] != '-' && words[count][0] != '@') {
		if (count > 0 && is_input_file(words[count]))
			break;
		if (is_compiler(words[count++]))
			break;
	}
	return count ? count : 1;
}

/* Returns true if one of the COUNT words of the compiler is "g++", "clang++-14" or
 * "arm-linux-gnueabihf-c++". */
static bool is_cxx_compiler(char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *plus = strstr(base_name(words[i]), "++");
		if (plus && (plus[2] == '\0' || plus[2] == '-'))
			return true;
	}
	return false;
}

static bool is_clang(char *const *words, size_t count)
{
	return strstr(base_name(words[count - 1]), "clang") != NULL;
}

/* Returns true if OPTION selects the target, or where its files are. */
static bool is_of_target(const char *option)
{
	static const char *const starts[] = {"-m",        "-target", "--target",
	                                     "--sysroot", "-B",      "--gcc-toolchain="};
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		if (strncmp(option, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* Adds the COUNT words of the compiler, at WORDS, to COMPILER, and the options of the target in
 * LINE. */
static void read_compiler(struct arguments *compiler, char *const *words, size_t count,
                          const struct command_line *line)
{
	for (; count > 0; count--)
		add_argument(compiler, *words++);
	for (size_t i = 0, used; i < line->count; i += used) {
		used = takes_argument(line->words[i]) && i + 1 < line->count ? 2 : 1;
		for (size_t j = 0; j < used && is_of_target(line->words[i]); j++)
			add_argument(compiler, line->words[i + j]);
	}
}

/* Returns true if COMPILER is gcc, which does not know the word "--", and this word stands in front
 * of WORDS, which need it not.  ccache gives "--" to compilers that it does not know. */
static bool is_needless_end(const char *compiler, char *const *words)
{
	if (!is_compiler(compiler) || strstr(base_name(compiler), "clang"))
		return false;
	for (; *words; words++)
		if (**words == '-' || **words == '@')
			return false;
	return true;
}

/* Adds WORDS, which begin with COUNT words of the compiler, to ARGUMENTS.  Puts EXTRA, if it is not
 * NULL, in front of the first input file, library or response file. */
static void add_all_arguments(struct arguments *arguments, char *const *words, size_t count,
                              const char *extra)
{
	bool is_argument = false;

	for (size_t i = 0; words[i]; i++) {
		const char *word = words[i];
		if (i >= count && !is_argument && strcmp(word, "--") == 0 &&
		    is_needless_end(words[count - 1], words + i + 1))
			continue;
		if (extra && i >= count && !is_argument &&
		    (word[0] == '@' || strncmp(word, "-l", 2) == 0 ||
		     (word[0] != '-' && is_input_file(word)))) {
			add_argument(arguments, extra);
			extra = NULL;
		}
		is_argument = takes_argument(word) && !is_argument;
		add_argument(arguments, word);
	}
}

/* Returns the value of the option NAME at WORDS: the word "NAME=VALUE", or the two words "NAME" and
 * "VALUE".  Sets *USED to the number of words.  Returns NULL if WORDS begin with another option. */
static const char *option_value(char *const *words, const char *name, int *used)
{
	size_t length = strlen(name);
	if (strncmp(words[0], name, length) != 0)
		return NULL;
	*used = words[0][length] ? 1 : 2;
	if (words[0][length] == '=')
		return words[0] + length + 1;
	if (words[0][length])
		return NULL;
	if (!words[1] || words[1][0] == '-')
		die("cc: %s needs a value: %s=VALUE", name, name);
	return words[1];
}

/* Reads an option of this command at WORDS.  Returns the number of its words, 0 if there is
 * none. */
static int read_own_option(struct link *link, struct arena *arena, char *const *words)
{
	int used = 0;
	const char *value = option_value(words, "--allocator", &used);
	if (value) {
		add_allocators(link, value, arena);
		return used;
	}
	value = option_value(words, "--options", &used);
	if (value) {
		link->options = value;
		return used;
	}
	if (strcmp(words[0], "--program-only") == 0) {
		link->program_only = true;
		return 1;
	}
	if (words[0][0] == '-' && strcmp(words[0], "--") != 0)
		die("cc: unknown option '%s'; the compiler's own options stand behind its name, as "
		    "in leakwrap cc -- gcc %s",
		    words[0], words[0]);
	return 0;
}

static const char *const usage =
        "Usage: leakwrap cc [--allocator=LIST] [--options=OPTIONS] [--program-only]\n"
        "                   -- COMPILER [ARGUMENT...]\n"
        "Runs the compiler.  Adds the flags that trace the heap if it links a program.\n"
        "\n"
        "  make CC=\"leakwrap cc -- gcc\" CXX=\"leakwrap cc -- g++\"\n"
        "\n"
        "  --allocator=LIST   wrap an allocator of another name: a prefix (je_), or what each\n"
        "                     function is like:\n"
        "                     'malloc=pool_alloc(pool,size),free=pool_free(pool,block)'\n"
        "  --options=OPTIONS  default options of the linked programs, which LEAKWRAP_OPTIONS\n"
        "                     overrides\n"
        "  --program-only     trace the program's own calls, not those of shared libraries\n"
        "\n"
        "LEAKWRAP_LIB names another libleakwrap.a, for example one built for another machine.\n"
        "Exit status: the compiler's; 2 if there is no libleakwrap.a or an option is wrong,\n"
        "127 if there is no compiler.\n";

int command_cc(int argc, char **argv)
{
	struct arena arena = {0};
	struct command_line line = {0};
	struct arguments arguments = {0};
	struct link link = {0};
	int first = 1;

	if (first < argc &&
	    (strcmp(argv[first], "--help") == 0 || strcmp(argv[first], "-?") == 0)) {
		fputs(usage, stdout);
		return STATUS_FINE;
	}
	for (int used = 1; first < argc && used > 0; first += used)
		used = read_own_option(&link, &arena, argv + first);
	if (first < argc && strcmp(argv[first], "--") == 0)
		first++;
	if (first >= argc) {
		fputs(usage, stderr);
		return STATUS_USAGE;
	}
	size_t compiler_words = count_compiler_words(argv + first);
	for (int i = first + (int)compiler_words; i < argc; i++)
		add_words(&line, &arena, argv[i], 0);
	bool adds_flags = read_command_line(&line);
	link.statically = line.statically;
	add_all_arguments(&arguments, argv + first, compiler_words,
	                  adds_flags ? link_first_word(&link, &arena) : NULL);
	if (adds_flags) {
		link.cxx = is_cxx_compiler(argv + first, compiler_words) || line.cxx_library;
		link.libcxx = line.libcxx;
		link.static_libstdcxx = line.static_libstdcxx;
		link.lld = line.lld;
		/* A shared library may call malloc before the sanitizer's runtime has started.
		 * The tracer's start would then call functions that the sanitizer replaces. */
		link.program_only = link.program_only || line.sanitized;
		read_compiler(&link.compiler, argv + first, compiler_words, &line);
		if (line.has_language) {
			add_argument(&arguments, "-x");
			add_argument(&arguments, "none");
		}
		/* In front of the wrappers, because it calls wrapped functions. */
		if (line.statically && line.openmp && !is_clang(argv + first, compiler_words))
			add_argument(&arguments, "-lgomp");
		add_link_words(&link, &arguments, &arena);
	}
	execvp(arguments.all[0], arguments.all);
	complain("%s: %s", arguments.all[0], strerror(errno));
	free(line.words);
	free(arguments.all);
	free(link.compiler.all);
	arena_free(&arena);
	return 127;
}
