/* A plugin allocates from the library that it needs.  Both are unloaded and loaded again, the
 * library at another address.  With POOL this is the library, with PLUGIN the plugin, else the
 * program. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void *pool_take(size_t size);
void pool_give(void *block);
void *make_block(void);

#if defined(POOL)

static char memory[4096];
static size_t used;

void *pool_take(size_t size)
{
	used += size;
	return memory + used - size;
}

void pool_give(void *block)
{
	(void)block;
}

#elif defined(PLUGIN)

void *make_block(void)
{
	void *(*const volatile take)(size_t) = pool_take;

	pool_give(take(32));
	return take(64);
}

#else

static void *kept[2];

int main(int count, char **arguments)
{
	void *plugin;
	union {
		void *address;
		void *(*function)(void);
	} make;

	for (unsigned i = 0; i < 2; i++) {
		plugin = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
		if (!plugin)
			return 2;
		make.address = dlsym(plugin, "make_block");
		kept[i] = make.function();
		if (i > 0)
			return 0;
		dlclose(plugin);
		/* What was the library's memory stays taken. */
		if (mmap((void *)((uintptr_t)kept[0] & ~(uintptr_t)4095), 4096, PROT_NONE,
		         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return 3;
	}
}

#endif
