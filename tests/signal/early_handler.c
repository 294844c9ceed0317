/* early_handler.c - a library to preload. It installs its own SIGUSR1 handler before the program
 * starts, past any wrapper. */
#include <signal.h>
#include <unistd.h>

static void on_usr1(int number)
{
	(void)number;
	(void)!write(STDOUT_FILENO, "early handler\n", 14);
}

__attribute__((constructor)) static void install(void)
{
	struct sigaction action = {.sa_handler = on_usr1};

	sigaction(SIGUSR1, &action, NULL);
}
