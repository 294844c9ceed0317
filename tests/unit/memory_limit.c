/* memory_limit.c - while a thread reads the limit of a cgroup, other threads get no answer, and a
 * process that is forked meanwhile gets one.
 * sources: report/memory_limit.c wrap/port/linux*.c */
#include "report/memory_limit.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static char slow[64], quick[64];

/* Returns the path of the limit in FOLDER, in a buffer for the next call. */
static const char *limit_of(const char *folder)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/memory.max", folder);
	return path;
}

static void *find_slow(void *none)
{
	(void)none;
	CHECK(!leakwrap_memory_limit_find(slow));
	return NULL;
}

static void make_folder(char *folder)
{
	strcpy(folder, "/tmp/memory_limit.XXXXXX");
	CHECK(mkdtemp(folder));
}

int main(void)
{
	int fd, status;
	pthread_t thread;
	pid_t child;

	make_folder(quick);
	make_folder(slow);
	fd = open(limit_of(quick), O_WRONLY | O_CREAT, 0600);
	CHECK(write(fd, "4096\n", 5) == 5 && close(fd) == 0);
	CHECK(leakwrap_memory_limit_find(quick));

	/* The pipe has a writer, and no bytes: the thread waits with the file open. */
	CHECK(mkfifo(limit_of(slow), 0600) == 0);
	CHECK(pthread_create(&thread, NULL, find_slow, NULL) == 0);
	while ((fd = open(limit_of(slow), O_WRONLY | O_NONBLOCK)) < 0)
		usleep(1000);
	CHECK(!leakwrap_memory_limit_find(quick));
	child = fork();
	if (child == 0)
		_exit(leakwrap_memory_limit_find(quick) ? 0 : 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);

	CHECK(write(fd, "max\n", 4) == 4 && close(fd) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(leakwrap_memory_limit_find(quick));
	CHECK(unlink(limit_of(slow)) == 0 && rmdir(slow) == 0);
	CHECK(unlink(limit_of(quick)) == 0 && rmdir(quick) == 0);
	return 0;
}
