/* loading_in_two_threads.c FIRST SECOND - two threads load a plugin each. The thread that begins
 * first to read the loader's list ends last. Allocates through the second plugin. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

typedef int each(struct dl_phdr_info *info, size_t size, void *context);

static sem_t has_read, may_end;
static _Thread_local int is_slow;
static void *volatile kept;

struct visits {
	each *function;
	void *context;
	unsigned count;
};

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct visits *const visits = context;

	visits->count++;
	return visits->function(info, size, visits->context);
}

/* Replaces the C library's function, which the runtime calls.  A call that looks at one module
 * reads no list. */
int dl_iterate_phdr(each *function, void *context)
{
	struct visits visits = {function, context, 0};
	int (*real)(each *, void *) = NULL;
	int result;

	*(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	result = real(visit, &visits);
	if (is_slow && visits.count > 1) {
		sem_post(&has_read);
		sem_wait(&may_end);
	}
	return result;
}

static void *load_slowly(void *path)
{
	is_slow = 1;
	return dlopen(path, RTLD_NOW);
}

static void allocates(void)
{
	kept = malloc(77);
}

int main(int argc, char **argv)
{
	void (*call)(void (*)(void)) = NULL;
	void *plugin;
	pthread_t slow;

	if (argc != 3 || sem_init(&has_read, 0, 0) != 0 || sem_init(&may_end, 0, 0) != 0 ||
	    pthread_create(&slow, NULL, load_slowly, argv[1]) != 0)
		return 1;
	sem_wait(&has_read);
	plugin = dlopen(argv[2], RTLD_NOW);
	sem_post(&may_end);
	pthread_join(slow, NULL);
	if (plugin)
		*(void **)&call = dlsym(plugin, "call");
	if (!call)
		return 2;
	call(allocates);
	return 0;
}
