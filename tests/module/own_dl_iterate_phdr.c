/* own_dl_iterate_phdr.c - a program that replaces dl_iterate_phdr(3) by a function that allocates,
 * as some do that keep the list in a cache.  It loads a library, and keeps a block of 77 bytes. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

typedef int each(struct dl_phdr_info *info, size_t size, void *context);

static void *volatile kept;

int dl_iterate_phdr(each *function, void *context)
{
	void *volatile block = malloc(100);
	int (*real)(each *, void *) = NULL;
	int result;

	*(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	result = real(function, context);
	free(block);
	return result;
}

int main(void)
{
	void *library;

	kept = malloc(77);
	library = dlopen("libm.so.6", RTLD_NOW);
	return library && dlclose(library) == 0 ? 0 : 1;
}
