/* handler_called.c NUMBER [raise] - a library's handler, which calls the handler before it as a
 * function of one argument, whatever its flags.  With "raise", the program is sent the signal, else
 * it writes to address 8.  Then the library aborts.
 *
 * With LIBRARY, the library, whose calls of sigaction are not wrapped. */
#include <signal.h>
#include <stdlib.h>

void catch_signal(int number);

#ifdef LIBRARY

static struct sigaction before;

static void on_signal(int number)
{
	if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(number);
	abort();
}

void catch_signal(int number)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(number, &action, &before);
}

#else

static void *volatile kept;
static int *volatile nowhere = (int *)8;

int main(int count, char **words)
{
	const int number = count > 1 ? atoi(words[1]) : 0;

	kept = malloc(100);
	catch_signal(number);
	if (count > 2)
		raise(number);
	*nowhere = 1;
	return 1;
}

#endif
