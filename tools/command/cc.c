/* cc.c - the command cc: runs a compiler, with the flags of linker-flags.mk if it links a program.
 *
 * The compiler takes the place of this process.  This command prints nothing unless it fails: build
 * systems read what a compiler prints.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/command/command_line.h"
#include "tools/command/commands.h"
#include "tools/command/link.h"
#include "tools/command/linker.h"
#include "tools/command/target.h"

/* -- the compiler ------------------------------------------------------------------------------ */

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

/* Returns true if WORD is "ld", "ld.lld-14", "mold" or "arm-linux-gnueabihf-ld.bfd". */
static bool is_linker(const char *word)
{
	const char *name = base_name(word), *target = strstr(name, "-ld");

	if (target)
		name = target + 1;
	return strcmp(name, "ld") == 0 || strncmp(name, "ld.", 3) == 0 || strcmp(name, "mold") == 0;
}

/* Returns true if one of the COUNT words of the compiler is "g++", "clang++-14",
 * "arm-linux-gnueabihf-c++", "mpicxx.openmpi", "icpc" or "icpx". */
static bool is_cxx_compiler(char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = base_name(words[i]), *plus = strstr(name, "++");
		if ((plus && (plus[2] == '\0' || plus[2] == '-')) || strstr(name, "cxx") ||
		    strncmp(name, "icp", 3) == 0)
			return true;
	}
	return false;
}

static bool is_clang(char *const *words, size_t count)
{
	return strstr(base_name(words[count - 1]), "clang") != NULL;
}

/* Returns true if WORD is NAME, also with a version, as in "ghc-9.0.2", or "ocamlopt.opt".  A
 * script may be called "go-run". */
static bool is_called(const char *word, const char *name)
{
	const char *rest = base_name(word);

	if (strncmp(rest, name, strlen(name)) != 0)
		return false;
	rest += strlen(name);
	return *rest == '\0' || strcmp(rest, ".opt") == 0 ||
	       (strchr("-.", *rest) && rest[strspn(rest, "0123456789.-")] == '\0');
}

/* Ends the command if one of the COUNT words of the compiler is one that does not take gcc's words,
 * or calls a linker itself.  The program would be linked untraced, mostly without a message.  A
 * launcher in front of a compiler may have any name. */
static void refuse_other_compilers(char *const *words, size_t count)
{
	static const struct {
		const char *name, *option;
	} compilers[] = {
	        {"ghc", "-pgml ./script"},
	        {"gnatlink", "--LINK=./script"},
	        {"gnatmake", "-largs --LINK=./script"},
	        {"go", "-ldflags '-linkmode external -extld ./script'"},
	        {"nvcc", "-ccbin ./script"},
	        {"ocamlopt", "-cc ./script"},
	        {"rustc", "-C linker=./script"},
	};

	if (is_compiler(words[count - 1]))
		return;
	for (size_t i = 0; i < count; i++) {
		if (is_called(words[i], "fpc"))
			die("cc: fpc calls ld itself; its -k takes the flags, see leakwrap(7)");
		for (size_t j = 0; j < sizeof compilers / sizeof *compilers; j++)
			if (is_called(words[i], compilers[j].name))
				die("cc: %s does not take gcc's flags; let it link by a script "
				    "with the line: exec leakwrap cc -- gcc \"$@\", as in %s %s",
				    words[i], compilers[j].name, compilers[j].option);
	}
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

/* Returns true if the word "--" in front of WORDS may be left out, because no word behind it looks
 * like an option.  COMPILER is gcc, which does not know the word, or clang, which takes all words
 * behind it, also those that are added, for files.  ccache gives "--" to compilers that it does not
 * know. */
static bool is_needless_end(const char *compiler, char *const *words)
{
	if (!is_compiler(compiler))
		return false;
	for (; *words; words++)
		if (**words == '-' || **words == '@')
			return false;
	return true;
}

/* What goes between the words of the user; each may be NULL. */
struct additions {
	const char *first; /* in front of the first input file, library or response file */
	/* In front of the first library, behind an object: with --as-needed, ld.bfd keeps a shared
	 * library only if an object in front of it refers to a function of it.  Calls of a named
	 * allocator refer to its wrappers, and these to the allocator. */
	const char *wrappers;
};

static bool is_library(const char *word)
{
	return strncmp(word, "-l", 2) == 0 || (word[0] != '-' && is_library_file(word));
}

/* Adds WORDS, which begin with COUNT words of the compiler, to ARGUMENTS, and ADDITIONS. */
static void add_all_arguments(struct arguments *arguments, char *const *words, size_t count,
                              struct additions additions)
{
	bool is_argument = false, has_object = false, takes_whole = false;

	add_argument(arguments, words[0]);
	for (size_t i = 1; words[i]; i++) {
		const char *word = words[i];
		const bool is_input = i >= count && !is_argument &&
		                      (word[0] == '@' || is_library(word) ||
		                       (word[0] != '-' && is_input_file(word)));
		if (i >= count && !is_argument && strcmp(word, "--") == 0 &&
		    is_needless_end(words[count - 1], words + i + 1))
			continue;
		if (is_input && additions.first) {
			add_argument(arguments, additions.first);
			additions.first = NULL;
		}
		if (strstr(word, "-whole-archive"))
			takes_whole = strstr(word, "-no-whole-archive") == NULL;
		if (is_input && is_library(word) && has_object && !takes_whole &&
		    additions.wrappers) {
			add_argument(arguments, additions.wrappers);
			additions.wrappers = NULL;
		}
		has_object = has_object || (is_input && !is_library(word));
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
		link->is_program_only = true;
		return 1;
	}
	if (words[0][0] == '-' && strcmp(words[0], "--") != 0)
		die("cc: unknown option '%s'; the compiler's own options stand behind its name, as "
		    "in leakwrap cc -- gcc %s",
		    words[0], words[0]);
	return 0;
}

/* Reads this command's own words at WORDS, which end before the compiler's.  A build may call the
 * command twice, as the launcher and in CC: "leakwrap cc" in the compiler's place counts as one
 * with the first.  Returns the number of words. */
static int read_own_words(struct link *link, struct arena *arena, char *const *words)
{
	int count = 0;

	for (;;) {
		for (int used = 1; words[count] && used > 0; count += used)
			used = read_own_option(link, arena, words + count);
		if (words[count] && strcmp(words[count], "--") == 0)
			count++;
		if (!words[count] || strcmp(base_name(words[count]), "leakwrap") != 0 ||
		    !words[count + 1] || strcmp(words[count + 1], "cc") != 0)
			return count;
		count += 2;
	}
}

/* Sets what LINK needs to know of the command: LINE, and WORDS, which begin with COUNT words of the
 * compiler.  Returns what goes between WORDS. */
static struct additions prepare_link(struct link *link, struct arena *arena,
                                     const struct command_line *line, char *const *words,
                                     size_t count)
{
	if (is_linker(words[count - 1]))
		die("cc: %s is no compiler; leakwrap flags --ld prints the words for a linker",
		    words[count - 1]);
	link->is_static = line->is_static;
	link->is_cxx = is_cxx_compiler(words, count) || line->has_cxx_library;
	link->has_libcxx = line->has_libcxx;
	link->has_static_libstdcxx = line->has_static_libstdcxx;
	link->has_gcc_library = line->has_gcc_library;
	link->is_sanitized = line->is_sanitized;
	/* A shared library may call malloc before the sanitizer's runtime has started.  The
	 * tracer's start would then call functions that the sanitizer replaces. */
	link->is_program_only = link->is_program_only || line->is_sanitized;
	read_compiler(&link->compiler, words, count, line);
	check_target(&link->compiler, link_archive(arena));
	link->is_lld = line->names_linker ? line->is_lld : is_lld_the_default(&link->compiler);
	make_inputs(link, arena);
	return (struct additions){
	        .first = link_first_word(link, arena),
	        /* Behind -x the compiler would take an archive for a source file.  In a static
	         * program the functions that the archive exports would hide the allocator's own. */
	        .wrappers = link->allocators && !line->has_language && !link->is_static
	                            ? arena_format(arena, "%s.a", link->inputs)
	                            : NULL,
	};
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
	struct additions additions = {0};
	int first = 1;

	if (first < argc &&
	    (strcmp(argv[first], "--help") == 0 || strcmp(argv[first], "-?") == 0)) {
		fputs(usage, stdout);
		return STATUS_FINE;
	}
	first += read_own_words(&link, &arena, argv + first);
	if (first >= argc) {
		fputs(usage, stderr);
		return STATUS_USAGE;
	}
	size_t compiler_words = count_compiler_words(argv + first);
	refuse_other_compilers(argv + first, compiler_words);
	for (int i = first + (int)compiler_words; i < argc; i++)
		add_words(&line, &arena, argv[i]);
	bool adds_flags = read_command_line(&line);
	if (adds_flags)
		additions = prepare_link(&link, &arena, &line, argv + first, compiler_words);
	add_all_arguments(&arguments, argv + first, compiler_words, additions);
	if (adds_flags) {
		if (line.has_language) {
			add_argument(&arguments, "-x");
			add_argument(&arguments, "none");
		}
		/* In front of the wrappers, because they call wrapped functions. */
		if (line.is_static && !is_clang(argv + first, compiler_words)) {
			if (line.has_openmp)
				add_argument(&arguments, "-lgomp");
			if (line.has_transactions)
				add_argument(&arguments, "-litm");
		}
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
