/* calls_past_the_wrap.c LIBRARY PLUGIN - an untraced library loads a plugin. The program allocates
 * through the plugin, before and after its own first call of dlopen. sscanf also allocates, and no
 * wrapper sees it.
 *
 * With -DLIBRARY this file is the library, with -DPLUGIN the plugin. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/noinline.h"

#if defined(LIBRARY)

void *library_loads(const char *path);

void *library_loads(const char *path)
{
	return dlopen(path, RTLD_NOW);
}

#elif defined(PLUGIN)

void plugin_calls(void (*function)(void));

void plugin_calls(void (*function)(void))
{
	volatile char frame[100];

	frame[0] = 1;
	function();
	frame[1] = frame[0];
}

#else

static void *volatile hidden;

static NOINLINE void early(void)
{
	hidden = malloc(10);
}

static NOINLINE void late(void)
{
	hidden = malloc(20);
}

static NOINLINE void scans(void)
{
	char *word = NULL;

	if (sscanf("text", "%ms", &word) != 1)
		exit(4);
	free(word);
}

int main(int argc, char **argv)
{
	void *(*loads)(const char *);
	void (*calls)(void (*)(void));
	void *library, *plugin;

	scans();
	if (argc != 3)
		return 0;
	library = dlopen(argv[1], RTLD_NOW);
	if (!library)
		return 1;
	*(void **)&loads = dlsym(library, "library_loads");
	plugin = loads(argv[2]);
	if (!plugin)
		return 2;
	*(void **)&calls = dlsym(plugin, "plugin_calls");
	calls(early);
	if (!dlopen(argv[1], RTLD_NOW))
		return 3;
	calls(late);
	return 0;
}

#endif
