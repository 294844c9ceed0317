/* static_dlopen.c PLUGIN - writes a dump before it loads the plugin, one while the plugin is there,
 * and one after it was unloaded. */
#include <dlfcn.h>
#include <stdlib.h>

#include "leakwrap.h"

int main(int argc, char **argv)
{
	void *(*allocates)(size_t) = NULL;
	void *plugin;

	leakwrap_dump(-1);
	plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!plugin)
		return 77;
	*(void **)&allocates = dlsym(plugin, "plugin_allocates");
	if (!allocates || !allocates(100))
		return 2;
	leakwrap_dump(-1);
	dlclose(plugin);
	leakwrap_dump(-1);
	return 0;
}
