/* worker_library.c - a library whose constructor starts a thread, and whose destructor ends it and
 * joins it, as those of pools of threads do.  The thread sleeps meanwhile.  With SPINS, the
 * destructor asks in a loop whether the thread has ended. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

static int ends[2];
static pthread_t worker;
static atomic_bool has_ended;

static void *work(void *unused)
{
	struct pollfd end = {.fd = ends[0], .events = POLLIN};

	while (poll(&end, 1, -1) != 1)
		;
	atomic_store(&has_ended, true);
	return unused;
}

__attribute__((constructor)) static void start(void)
{
	if (pipe(ends) != 0 || pthread_create(&worker, NULL, work, NULL) != 0)
		_exit(3);
}

__attribute__((destructor)) static void end(void)
{
	if (write(ends[1], "", 1) != 1)
		_exit(4);
#ifdef SPINS
	while (!atomic_load(&has_ended))
		;
#endif
	if (pthread_join(worker, NULL) != 0)
		_exit(4);
}

void worker_use(void);
void worker_use(void)
{
}
