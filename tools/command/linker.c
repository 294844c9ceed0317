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
	FILE *answer = tmpfile();
	bool is_lld;

	if (!answer)
		return false;
	for (size_t i = 0; i < compiler->count; i++)
		add_argument(&command, compiler->all[i]);
	add_argument(&command, "-Wl,--version");
	const pid_t child = fork();
	if (child == 0)
		run_for(fileno(answer), command.all);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	is_lld = child > 0 && names_lld(answer);
	fclose(answer);
	free(command.all);
	return is_lld;
}
