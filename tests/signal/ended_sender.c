/* ended_sender.c HOW - a child asks for a dump, and has ended when the signal comes.
 *
 * With HOW "exec", a library forks the child, which executes kill(1), else the child sends the
 * signal itself: with HOW "failed", after it could not execute a program.  With LIBRARY, the
 * library, whose calls of exec are not wrapped. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void execute_kill(int process);

#ifdef LIBRARY

void execute_kill(int process)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", process);
	execlp("kill", "kill", "-USR1", text, (char *)NULL);
	_exit(9);
}

#else

static void *volatile kept;

int main(int count, char **words)
{
	const int parent = getpid();
	sigset_t blocked;
	siginfo_t info;
	pid_t child;

	kept = malloc(100);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	child = fork();
	if (child == 0) {
		if (count > 1 && strcmp(words[1], "exec") == 0)
			execute_kill(parent);
		if (count > 1 && strcmp(words[1], "failed") == 0)
			execl("/nowhere/program", "program", (char *)NULL);
		kill(parent, SIGUSR1);
		_exit(0);
	}
	waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	return 3;
}

#endif
