/* forked.c HOW - the same call site allocates before and after a moment: ten blocks, of which three
 * are lost later, and then three that are kept.  HOW is what happens in between: "fork" or "mark".
 * Ends with status 0 if leakwrap_get_kinds() finds them all, and leaves errno alone.
 *
 * With "thread", a thread keeps a block on its stack, and another thread forks.  Ends with status 0
 * if the block is not lost in the child. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leakwrap.h"

static void *volatile kept[10];

/* Volatile: the compiler does not unroll the loop. */
static volatile int times = 2;

static __attribute__((noinline)) void keep(int count)
{
	for (int i = 0; i < count; i++)
		kept[i] = malloc(40);
}

static __attribute__((noinline)) void clear_stack(void)
{
	volatile char room[8192];

	memset((char *)room, 0, sizeof(room));
}

/* Returns whether the kinds are those of the 13 blocks, and of nothing else. */
static int is_counted(void)
{
	struct leakwrap_kind_counters kinds;

	errno = 77;
	return leakwrap_get_kinds(&kinds) == 0 && errno == 77 && kinds.definite_bytes == 120 &&
	       kinds.definite_blocks == 3 && kinds.reachable_bytes == 400 &&
	       kinds.reachable_blocks == 10 && kinds.possible_blocks + kinds.indirect_blocks == 0 &&
	       kinds.pause_ns > 0;
}

/* After the first STEP: marks the time, or goes on in a child, whose status becomes the process's.
 */
static __attribute__((noinline)) void come_between(const char *how, int step)
{
	int status;

	if (step > 0)
		return;
	if (strcmp(how, "mark") == 0)
		leakwrap_mark();
	else if (fork() != 0)
		_exit(wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

static atomic_bool is_kept;

static void *keep_on_stack(void *unused)
{
	void *volatile block = malloc(40);

	atomic_store(&is_kept, block != NULL);
	pause();
	return unused; /* cppcheck-suppress memleak ; on purpose */
}

static int fork_beside_thread(void)
{
	struct leakwrap_kind_counters kinds;
	pthread_t thread;
	int status;

	if (pthread_create(&thread, NULL, keep_on_stack, NULL) != 0)
		return 2;
	while (!atomic_load(&is_kept))
		usleep(1000);
	if (fork() == 0)
		_exit(leakwrap_get_kinds(&kinds) != 0 || kinds.definite_blocks != 0);
	return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

int main(int argc, char **argv)
{
	static volatile int counts[] = {10, 3};

	if (argc > 1 && strcmp(argv[1], "thread") == 0)
		return fork_beside_thread();

	for (int i = 0; i < times; i++) {
		keep(counts[i]);
		come_between(argc > 1 ? argv[1] : "mark", i);
	}
	clear_stack();
	return !is_counted();
}
