/* malloc_variable.c - gives a library a function in the place of malloc: its own, or malloc of the
 * library in its argument. */
#include <dlfcn.h>
#include <stdlib.h>

void library_uses(void *(*allocate)(size_t size));
void *library_makes(size_t size);

static void *makes_zeros(size_t size)
{
	return calloc(1, size);
}

int main(int argc, char **argv)
{
	void *other = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) : NULL;

	library_uses(other ? (void *(*)(size_t))dlsym(other, "malloc") : makes_zeros);
	free(library_makes(10));
	return argc > 1 && !other;
}
