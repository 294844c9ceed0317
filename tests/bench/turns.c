/* turns.c TURNS COMMAND... - runs all commands at once and lets them measure in turns: each once,
 * then each a second time, and so on.
 *
 * The machine's other work comes and goes in fractions of a second. In short turns it disturbs all
 * commands alike. sh -c runs a command. The command prints a line when it is ready, and then a line
 * for each byte that it reads. It ends with its input. Prints these lines, each behind the number
 * of its command, from 1 on. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMMANDS_MAX = 16 };

struct command {
	const char *text;
	pid_t process;
	int turns;     /* the command's input */
	FILE *answers; /* the command's output */
};

/* The commands close the pipe ends that this process keeps; otherwise none would see the end of its
 * input. */
static int start(struct command *command)
{
	int input[2], output[2];

	if (pipe2(input, O_CLOEXEC) || pipe2(output, O_CLOEXEC))
		return 0;
	command->process = fork();
	if (command->process == 0) {
		signal(SIGPIPE, SIG_DFL);
		if (dup2(input[0], STDIN_FILENO) >= 0 && dup2(output[1], STDOUT_FILENO) >= 0)
			execl("/bin/sh", "sh", "-c", command->text, (char *)NULL);
		_exit(127);
	}
	close(input[0]);
	close(output[1]);
	command->turns = input[1];
	command->answers = fdopen(output[0], "r");
	return command->process > 0 && command->answers;
}

/* Returns the next line of COMMAND, or NULL if it has ended. */
static const char *answer(const struct command *command)
{
	static char line[512];

	return fgets(line, sizeof(line), command->answers);
}

static int turn(const struct command *command, int number)
{
	const char *line;

	if (write(command->turns, "\n", 1) != 1 || !(line = answer(command))) {
		fprintf(stderr, "it has ended before its turn was over: %s\n", command->text);
		return 0;
	}
	printf("%d %s", number, line);
	return 1;
}

/* Ends COMMAND. Returns whether it ended well. */
static int end(struct command *command)
{
	int status;

	close(command->turns);
	fclose(command->answers);
	return waitpid(command->process, &status, 0) == command->process && status == 0;
}

int main(int argc, char **argv)
{
	struct command command[COMMANDS_MAX];
	int turns = argc > 2 ? atoi(argv[1]) : 0, count = argc - 2, well = 1;

	if (turns < 1 || count > COMMANDS_MAX) {
		fprintf(stderr, "usage: %s TURNS COMMAND...\n", argv[0]);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* write reports a command that has ended */
	for (int i = 0; i < count; i++) {
		command[i].text = argv[2 + i];
		if (!start(&command[i]) || !answer(&command[i])) {
			fprintf(stderr, "it cannot be run: %s\n", command[i].text);
			return 1;
		}
	}
	for (; turns > 0 && well; turns--)
		for (int i = 0; i < count && well; i++)
			well = turn(&command[i], i + 1);
	for (int i = 0; i < count; i++)
		well &= end(&command[i]);
	return !well;
}
