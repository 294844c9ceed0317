/* exit_in_exit_dump.c - fills the pipe on its standard error and ends.  Its exit dump waits for
 * room.  A handler of SIGUSR2 ends the program, too, with another status. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void leave(int signo)
{
	(void)signo;
	_exit(7);
}

int main(void)
{
	const struct sigaction action = {.sa_handler = leave};
	const int flags = fcntl(STDERR_FILENO, F_GETFL);
	void *volatile block = malloc(1000);

	sigaction(SIGUSR2, &action, NULL);
	fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
	while (write(STDERR_FILENO, "full\n", 5) == 5)
		;
	fcntl(STDERR_FILENO, F_SETFL, flags);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		return 4;
	return block ? 3 : 4;
}
