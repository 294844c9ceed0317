/* relative_path.c FOLDER - loads ./first.so, goes to FOLDER, loads the second plugin by its
 * absolute path, and asks for ./first.so again, which is loaded.  Leaks a block each time. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept;

static int leak_from(const char *plugin)
{
	void *const library = dlopen(plugin, RTLD_NOW);
	void *(*allocates)(size_t) = NULL;

	if (library)
		*(void **)&allocates = dlsym(library, "plugin_allocates");
	if (!allocates)
		return 1;
	kept = allocates(5000);
	return 0;
}

int main(int argc, char **argv)
{
	char second[4096];

	if (argc < 2 || !getcwd(second, sizeof(second) - 20) || leak_from("./first.so") != 0 ||
	    chdir(argv[1]) != 0)
		return 2;
	snprintf(second + strlen(second), 20, "/second.so");
	return leak_from(second) || leak_from("./first.so");
}
