/* loads.c PLUGIN - loads the plugin.  Its functions are looked up when they are called. */
#include <dlfcn.h>

int main(int argc, char **argv)
{
	return argc != 2 || !dlopen(argv[1], RTLD_LAZY);
}
