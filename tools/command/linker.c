/* linker.c - see linker.h. */
#include "tools/command/linker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ld.lld prints "LLD 14.0.6 (compatible with GNU linkers)", perhaps behind the distribution's name.
 * gcc prints the linker's command line in front of it, unless that goes to the standard error. */
static bool names_lld(FILE *answer)
{
	char *line = NULL;
	size_t room = 0;
	bool is_lld = false;

	rewind(answer);
	while (!is_lld && getline(&line, &room, answer) > 0) {
		const char *name = strstr(line, "LLD ");
		is_lld = name && strstr(name, "compatible with GNU linkers");
	}
	free(line);
	return is_lld;
}

/* The answer goes to a file: a wrapper of the compiler may start a server, which would keep a pipe
 * open. */
bool is_lld_the_default(const struct arguments *compiler)
{
	struct arguments command = {0};
	const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	FILE *answer = tmpfile();
	bool is_lld = false;

	for (size_t i = 0; i < compiler->count; i++)
		add_argument(&command, compiler->all[i]);
	add_argument(&command, "-Wl,--version");
	if (answer) {
		run_command(command.all, fileno(answer), nothing);
		is_lld = names_lld(answer);
		fclose(answer);
	}
	close(nothing);
	free(command.all);
	return is_lld;
}
