/* command.c - see command.h.  The copy is made once, at start, and is constant after that. */
#include "report/command.h"

#include "report/format.h"
#include "wrap/port/port.h"

#include <string.h>

/* The most bytes that are copied.  A byte takes up to 4 bytes of output, as \xHH: they all fit a
 * line. */
#define COMMAND_MAX 960

static struct {
	char words[COMMAND_MAX + 1]; /* each word ends in NUL */
	size_t size;                 /* bytes in words; 0: the command line is not known */
	bool is_cut;                 /* the command line is longer; the last word may be cut */
} command;

void leakwrap_command_read(void)
{
	command.size = leakwrap_process_command(command.words, sizeof(command.words));
	command.is_cut = command.size > COMMAND_MAX;
	if (command.is_cut)
		command.size = COMMAND_MAX;
	command.words[command.size] = '\0';
}

void leakwrap_command_write(struct leakwrap_writer *writer)
{
	size_t at = 0;

	if (command.size == 0)
		return;
	leakwrap_write_text(writer, "command");
	while (at < command.size) {
		const char *word = command.words + at;

		leakwrap_write_text(writer, " ");
		/* A reader would not see an empty word: format.h writes it as a backslash. */
		if (*word == '\0')
			leakwrap_write_text(writer, "\\");
		leakwrap_write_name(writer, word, LEAKWRAP_LINE_MAX);
		at += strlen(word) + 1;
	}
	if (command.is_cut)
		leakwrap_write_text(writer, "\\...");
	leakwrap_write_end(writer);
}
