/* linker.c - see linker.h. */
#include "tools/command/linker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/util.h"

/* In the child: runs the command WORDS with OUTPUT as its standard output, and no other files. */
static void run_for(int output, char *const *words)
{
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(nothing, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(nothing, STDERR_FILENO);
	execvp(words[0], words);
	_exit(127);
}

/* ld.lld prints "LLD 14.0.6 (compatible with GNU linkers)", perhaps behind the distribution's name.
 * gcc prints the linker's command line in front of it, unless that goes to the standard error. */
bool is_lld_the_default(const struct arguments *compiler)
{
	struct arguments command = {0};
	char *line = NULL;
	size_t room = 0;
	bool is_lld = false;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	for (size_t i = 0; i < compiler->count; i++)
		add_argument(&command, compiler->all[i]);
	add_argument(&command, "-Wl,--version");
	const pid_t child = fork();
	if (child == 0)
		run_for(ends[1], command.all);
	close(ends[1]);
	FILE *answer = fdopen(ends[0], "r");
	while (child > 0 && answer && getline(&line, &room, answer) > 0) {
		const char *name = strstr(line, "LLD ");
		is_lld = is_lld || (name && strstr(name, "compatible with GNU linkers"));
	}
	if (answer)
		fclose(answer);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	free(line);
	free(command.all);
	return is_lld;
}
