/* archives.c - allocates through prebuilt libraries, in the main thread and in another thread. */
#include "compare.h"
#include "workloads.h"

#include <pthread.h>
#include <stddef.h>

static void *use_all(void *unused)
{
	(void)unused;
	use_library("all", false);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	compare_start();
	use_all(NULL);
	if (pthread_create(&thread, NULL, use_all, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 1;
	return compare_report() ? 0 : 1;
}
