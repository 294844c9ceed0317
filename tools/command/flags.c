/* flags.c - the command flags: prints the words that a traced link needs, for build systems that
 * read them from a command or a file.
 */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/command/commands.h"
#include "tools/command/command_line.h"
#include "tools/command/link.h"

struct flags_options {
	struct link link;
	struct arena arena;
	const char *output;
	bool ld; /* the words are for the linker itself */
};

static error_t parse_flags(int key, char *argument, struct argp_state *state)
{
	struct flags_options *options = state->input;
	struct link *link = &options->link;
	switch (key) {
	case 'a':
		add_allocators(link, argument, &options->arena);
		break;
	case 'O':
		link->options = argument;
		break;
	case 'o':
		if (!*argument)
			argp_error(state, "--output= needs a value");
		options->output = strcmp(argument, "-") != 0 ? argument : NULL;
		break;
	case '+':
		link->is_cxx = true;
		break;
	case 's':
		link->is_static = true;
		break;
	case 'S':
		link->is_cxx = link->has_static_libstdcxx = true;
		break;
	case 'l':
		link->is_lld = true;
		break;
	case 'L':
		options->ld = true;
		break;
	case 'p':
		link->is_program_only = true;
		break;
	case ARGP_KEY_ARG:
		add_argument(&link->compiler, argument);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Adds WORD, which is for a compiler, to WORDS as the compiler hands it to the linker: -Wl,A,B is
 * two words, and a response file that generate.sh has made is the words on its lines. */
static void add_ld_words(struct arguments *words, struct arena *arena, const char *word)
{
	FILE *file = word[0] == '@' ? fopen(word + 1, "re") : NULL;
	char *line = NULL;
	size_t room = 0, part_length;
	ssize_t length;

	while (file && (length = getline(&line, &room, file)) > 0)
		add_ld_words(words, arena,
		             arena_copy(arena, line, (size_t)length - (line[length - 1] == '\n')));
	free(line);
	if (file) {
		fclose(file);
		return;
	}
	if (strncmp(word, "-Wl,", 4) != 0) {
		add_argument(words, word);
		return;
	}
	word += 4;
	for (const char *part; (part = next_linker_word(&word, &part_length)) != NULL;)
		add_argument(words, arena_copy(arena, part, part_length));
}

/* Writes WORD as a word of a response file (gcc(1), @file).  A backslash escapes space, quotes and
 * backslashes. */
static void put_escaped(FILE *stream, const char *word)
{
	for (; *word; word++) {
		if (strchr(" \t\n'\"\\", *word))
			putc('\\', stream);
		putc(*word, stream);
	}
	putc('\n', stream);
}

static enum status write_flags(const struct arguments *words, const char *path)
{
	FILE *stream = fopen(path, "we");
	for (size_t i = 0; stream && i < words->count; i++)
		put_escaped(stream, words->all[i]);
	if (!stream || fclose(stream) != 0) {
		complain("%s: %s", path, strerror(errno));
		return STATUS_USAGE;
	}
	return STATUS_FINE;
}

int command_flags(int argc, char **argv)
{
	static const struct argp_option table[] = {
	        {"allocator", 'a', "LIST", 0,
	         "Wrap an allocator of another name: a prefix (je_), or what each function is like "
	         "(malloc=pool_alloc(pool,size),free=pool_free(pool,block))",
	         0},
	        {"options", 'O', "OPTIONS", 0,
	         "The program's default options, which LEAKWRAP_OPTIONS overrides", 0},
	        {"cxx", '+', 0, 0, "For a C++ program that is linked with -static", 0},
	        {"static-libstdcxx", 'S', 0, 0, "For a C++ program with -static-libstdc++", 0},
	        {"static", 's', 0, 0, "For -static and -static-pie", 0},
	        {"lld", 'l', 0, 0, "For ld.lld; for C++ with --cxx or -S", 0},
	        {"ld", 'L', 0, 0, "For the linker itself: words without -Wl,", 0},
	        {"program-only", 'p', 0, 0,
	         "Trace the program's own calls, not those of shared libraries", 0},
	        {"output", 'o', "FILE", 0,
	         "Write a response file, and what --allocator and --options need beside it", 0},
	        {0},
	};
	static const struct argp argp = {
	        .options = table,
	        .parser = parse_flags,
	        .args_doc = "[-- COMPILER [FLAG...]]",
	        .doc = "Prints the flags that trace a program, to stand behind its objects and "
	               "libraries."
	               "\v  gcc -o app app.o vendor.a $(leakwrap flags --allocator=je_)\n"
	               "  leakwrap flags -o trace.flags --options=exit=0 -- gcc\n"
	               "  gcc -o app app.o @trace.flags\n\n"
	               "COMPILER and its flags select the target for which --allocator and "
	               "--options compile what they need.  The default is cc.",
	};
	struct flags_options options = {0};
	struct arguments words = {0}, ld_words = {0};
	enum status status = STATUS_FINE;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (options.link.compiler.count == 0)
		add_argument(&options.link.compiler, "cc");
	options.link.output = options.output;
	make_inputs(&options.link, &options.arena);
	add_link_words(&options.link, &words, &options.arena);
	for (size_t i = 0; options.ld && i < words.count; i++)
		add_ld_words(&ld_words, &options.arena, words.all[i]);
	if (options.ld) {
		free(words.all);
		words = ld_words;
	}
	if (options.output)
		status = write_flags(&words, options.output);
	else
		for (size_t i = 0; i < words.count; i++)
			printf("%s%c", words.all[i], i + 1 < words.count ? ' ' : '\n');
	free(words.all);
	free(options.link.compiler.all);
	arena_free(&options.arena);
	return (int)status;
}
