/* dump_while_unloaded.c PLUGIN - allocates below the plugin, which a library unloads and loads
 * again.  Asks for a dump while it is unloaded, and for one at the end.  Status 9: it was loaded at
 * another address. */
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

void unload(void *plugin);
void *load(const char *path);

static void *volatile kept[2];

void *allocate(int size);

__attribute__((noinline)) void *allocate(int size)
{
	return kept[size > 200] = malloc((size_t)size);
}

/* Has the function NAME of PLUGIN call allocate.  Returns the address of call. */
static __attribute__((always_inline)) inline void *call_by(void *plugin, const char *name, int size)
{
	void (*call)(void *(*function)(int), int size) = NULL;

	if (!plugin)
		exit(2);
	*(void **)&call = dlsym(plugin, name);
	if (!call)
		exit(2);
	call(allocate, size);
	return dlsym(plugin, "call");
}

int main(int argc, char **argv)
{
	const char *const path = argc > 1 ? argv[1] : "";
	void *plugin = dlopen(path, RTLD_NOW);
	void *const first = call_by(plugin, "call", 111);

	unload(plugin);
	raise(SIGUSR1);
	plugin = load(path);
	if (call_by(plugin, "call_again", 222) != first)
		return 9;
	raise(SIGUSR1);
	return 0;
}
