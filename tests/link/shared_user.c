/* shared_user.c - an untraced program that opens the shared object when it runs. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "shared_vendor.h"

int main(int argc, char **argv)
{
	void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	void (*leak)(void);
	void (*release)(void *);

	if (!library) {
		puts(dlerror());
		return 1;
	}
	*(void **)&leak = dlsym(library, "by_vendor");
	*(void **)&release = dlsym(library, "freed_by_vendor");
	for (int i = 0; i < 10; i++)
		leak();
	release(malloc(50));
	puts("done");
	return 9;
}
