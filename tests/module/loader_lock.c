/* loader_lock.c PLUGIN... - allocates through plugins that a shared library has loaded.  Without a
 * plugin, frees a block twice while another thread holds the loader's lock.
 *
 * One thread holds the loader's lock until another has allocated through the first plugin.  Then
 * each thread loads plugins, allocates through them and unloads them: by itself, and through the
 * library. */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 100, SECONDS = 60 };

typedef void caller(void (*function)(void));

void *library_load(const char *path);
void library_unload(void *handle);

static sem_t holds_lock, may_end;
static void *volatile kept;
static char **plugins;
static int plugin_count;

static void allocates(void)
{
	kept = malloc(77);
}

static void allocates_and_frees(void)
{
	free(malloc(33));
}

static void frees_twice(void (*unused)(void))
{
	(void)unused;
	kept = malloc(99);
	for (int i = 0; i < 2; i++)
		free(kept);
}

static caller *find_caller(void *handle)
{
	caller *call = NULL;

	if (handle)
		*(void **)&call = dlsym(handle, "call");
	if (!call)
		_exit(2);
	return call;
}

static int hold(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info, (void)size, (void)context;
	sem_post(&holds_lock);
	sem_wait(&may_end);
	return 1;
}

static void *hold_lock(void *unused)
{
	dl_iterate_phdr(hold, NULL);
	return unused;
}

static void *load_and_unload(void *number)
{
	for (int i = 0; i < ROUNDS; i++) {
		const char *path = plugins[(i + *(int *)number) % plugin_count];
		const int is_unseen = i / 2 % 2;
		void *handle = is_unseen ? library_load(path) : dlopen(path, RTLD_NOW);

		find_caller(handle)(allocates_and_frees);
		if (is_unseen)
			library_unload(handle);
		else
			dlclose(handle);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t holder, thread[THREADS];
	int number[THREADS];
	caller *call;

	if (sem_init(&holds_lock, 0, 0) != 0 || sem_init(&may_end, 0, 0) != 0)
		return 1;
	alarm(SECONDS); /* ends a deadlock */
	plugins = argv + 1;
	plugin_count = argc - 1;
	call = argc > 1 ? find_caller(library_load(argv[1])) : frees_twice;
	if (pthread_create(&holder, NULL, hold_lock, NULL) != 0)
		return 1;
	sem_wait(&holds_lock);
	call(allocates);
	sem_post(&may_end);
	pthread_join(holder, NULL);
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		if (pthread_create(&thread[i], NULL, load_and_unload, &number[i]) != 0)
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
