/* command.c - see command.h.  Read once, at start; constant after that. */
#include "report/command.h"

#include "wrap/port/port.h"

#include <string.h>

/* Bytes that are kept.  Each takes up to four in the line, which has room for them. */
#define COMMAND_MAX 960

static struct {
	char words[COMMAND_MAX + 1]; /* each ends in NUL */
	size_t size;                 /* of all of them; 0: not known */
	bool is_cut;                 /* there were more, and the last word may not be whole */
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
	leakwrap_text(writer, "command");
	while (at < command.size) {
		const char *word = command.words + at;

		leakwrap_text(writer, " ");
		/* Nothing would be no word. */
		if (*word == '\0')
			leakwrap_text(writer, "\\");
		leakwrap_text_name(writer, word, LEAKWRAP_LINE_MAX);
		at += strlen(word) + 1;
	}
	if (command.is_cut)
		leakwrap_text(writer, "\\...");
	leakwrap_text_end(writer);
}
