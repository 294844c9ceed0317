/* unseen_unload.c FOLDER OBJECT - a library loads a large plugin and unloads it. Then it loads
 * other plugins until one of them lies in its place, except for its end, where its unwind tables
 * were. Each plugin calls the function that allocates, in the program or in OBJECT. */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

void *load(const char *path);
int unload(void *handle);

static void allocate_through(void *plugin, void (*allocates)(void))
{
	void (*calls)(void (*)(void)) = NULL;

	*(void **)&calls = dlsym(plugin, "plugin_calls");
	if (calls)
		calls(allocates);
}

int main(int argc, char **argv)
{
	char path[4096];
	void *large, *object;
	void (*allocates)(void) = NULL;
	char *start;

	snprintf(path, sizeof(path), "%s/large.so", argv[1]);
	large = argc == 3 ? load(path) : NULL;
	*(void **)&allocates = dlsym(RTLD_DEFAULT, "allocates");
	object = dlopen(allocates ? "libm.so.6" : argv[2],
	                RTLD_NOW); /* here the tracer reads the list of modules */
	if (!allocates && object)
		*(void **)&allocates = dlsym(object, "allocates");
	if (!large || !allocates)
		return 1;
	allocate_through(large, allocates);
	raise(SIGUSR1);
	start = (char *)((struct link_map *)large)->l_addr;
	unload(large);
	if (mmap(start + 0x12000, 0x2000, PROT_NONE,
	         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
		return 2;
	for (int i = 0; i < 10; i++) {
		struct link_map *plugin;

		snprintf(path, sizeof(path), "%s/plugin%d.so", argv[1], i);
		plugin = load(path);
		if (plugin && (char *)plugin->l_addr >= start &&
		    (char *)plugin->l_addr < start + 0x12000) {
			puts("yes");
			allocate_through(plugin, allocates);
			break;
		}
	}
	raise(SIGUSR1);
	return 0;
}
