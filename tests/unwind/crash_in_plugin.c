/* crash_in_plugin.c - a program whose library loads a plugin, which crashes.
 *
 * With LOADER, the library.  With PLUGIN, the plugin, which calls a function of another library by
 * MIDDLE. */
#include <dlfcn.h>
#include <stdlib.h>

#if defined LOADER

void load_and_run(const char *plugin);
void load_and_run(const char *plugin)
{
	void *const handle = dlopen(plugin, RTLD_NOW);
	void (*const run)(void) = handle ? (void (*)(void))dlsym(handle, "run_plugin") : NULL;

	if (run)
		run();
}

#elif defined MIDDLE

int call_back(int (*function)(int), int argument);
int call_back(int (*function)(int), int argument)
{
	return function(argument) + 1;
}

#elif defined PLUGIN

int call_back(int (*function)(int), int argument);

static volatile int result;
static int *volatile nowhere;

static int fail(int argument)
{
	return *nowhere + argument;
}

void run_plugin(void);
void run_plugin(void)
{
	result = call_back(fail, 1);
}

#else

void load_and_run(const char *plugin);

int main(int count, char **words)
{
	free(malloc(10));
	if (count > 1)
		load_and_run(words[1]);
	return 1;
}

#endif
