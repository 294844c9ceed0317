/* unloaded_tracer.c OBJECT - again and again, loads a traced object, asks it for a dump, and
 * unloads it. Ends with 0 if its own handler was in place after each round. */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

static volatile sig_atomic_t handled;

static void on_signal(int signo)
{
	(void)signo;
	handled++;
}

int main(int argc, char **argv)
{
	struct sigaction seen;

	signal(SIGUSR1, on_signal);
	for (int i = 0; i < 10; i++) {
		void *object = dlopen(argv[argc - 1], RTLD_NOW);
		void (*call)(void) = object ? (void (*)(void))dlsym(object, "in_the_object") : NULL;

		if (!call)
			return 1;
		call();
		raise(SIGUSR1);
		if (dlclose(object) != 0 || sigaction(SIGUSR1, NULL, &seen) != 0)
			return 2;
		if (seen.sa_handler != on_signal)
			return 3;
		raise(SIGUSR1);
	}
	return handled == 20 ? 0 : 4;
}
