/* unloaded_origin.c PLUGIN... - loads each plugin, lets it allocate 20 blocks of 5,000 bytes, and
 * unloads it.  Prints for each plugin where its function was. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *volatile kept;

	for (int i = 1; i < argc; i++) {
		void *plugin = dlopen(argv[i], RTLD_NOW);
		void *(*allocates)(size_t) = NULL;

		if (plugin)
			*(void **)&allocates = dlsym(plugin, "plugin_allocates");
		if (!allocates)
			return 2;
		for (int block = 0; block < 20; block++)
			kept = allocates(5000);
		dlclose(plugin);
		printf("%p\n", *(void **)&allocates);
	}
	(void)kept;
	return 0;
}
