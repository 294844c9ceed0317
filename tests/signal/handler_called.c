/* handler_called.c NUMBER [raise|own] - a library's handler, which calls the handler before it as a
 * function of one argument, whatever its flags.  With "raise", the program is sent the signal, else
 * it writes to address 8.  Then the library aborts.  With "own", the handler before it is the
 * program's, which ends the program with status 7.
 *
 * With LIBRARY, the library, whose calls of sigaction are not wrapped. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void end(int number)
{
	(void)number;
	_exit(7);
}

int main(int count, char **words)
{
	const int number = count > 1 ? atoi(words[1]) : 0;

	kept = malloc(100);
	if (count > 2 && strcmp(words[2], "own") == 0)
		signal(number, end);
	catch_signal(number);
	if (count > 2)
		raise(number);
	*nowhere = 1;
	return 1;
}

#endif
