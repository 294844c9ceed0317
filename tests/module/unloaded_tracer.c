/* unloaded_tracer.c OBJECT - again and again, loads a traced object, asks it for a dump, and
 * unloads it. Ends with 0 if its own handler was in place after each round, and that of SIGBUS, and
 * if SIGSEGV and SIGILL had no handler. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

static volatile sig_atomic_t handled;

static void on_signal(int signo)
{
	(void)signo;
	handled++;
}

/* Returns whether SIGNO has HANDLER. */
static int has_handler(int signo, void (*handler)(int))
{
	struct sigaction seen;

	return sigaction(signo, NULL, &seen) == 0 && seen.sa_handler == handler;
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 10; i++) {
		void *object = dlopen(argv[argc - 1], RTLD_NOW);
		void (*call)(void) = object ? (void (*)(void))dlsym(object, "in_the_object") : NULL;

		if (!call)
			return 1;
		call();
		raise(SIGUSR1);
		signal(SIGBUS, on_signal); /* in place of the handler that crash=1 has set */
		if (dlclose(object) != 0)
			return 2;
		if (!has_handler(SIGUSR1, on_signal) || !has_handler(SIGBUS, on_signal) ||
		    !has_handler(SIGSEGV, SIG_DFL) || !has_handler(SIGILL, SIG_DFL))
			return 3;
		signal(SIGBUS, SIG_DFL);
		raise(SIGUSR1);
	}
	return handled == 20 ? 0 : 4;
}
