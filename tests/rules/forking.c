/* forking.c - a thread holds a lock that fork takes, as it does malloc's, after it has told the tracer; while fork waits
 * for that lock, the thread takes a dump, and sets the signal's handler again in the handler.  Ends with 0 when all of them came
 * to their end. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile block;
static pthread_mutex_t allocator = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_held, fork_waits;
static volatile sig_atomic_t handled;

static void before_fork(void)
{
	atomic_store(&fork_waits, true);
	pthread_mutex_lock(&allocator);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&allocator);
}

/* What is registered first is called last before a fork. */
static void before_all(void)
{
	if (pthread_atfork(before_fork, after_fork, after_fork) != 0)
		_exit(3);
}

/* Static programs have no other way to be as early. */
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = before_all;

static void again(int signo)
{
	signal(signo, again);
	handled++;
}

static void *holder(void *unused)
{
	pthread_mutex_lock(&allocator);
	atomic_store(&is_held, true);
	while (!atomic_load(&fork_waits))
		usleep(1000);
	raise(SIGUSR1);
	pthread_mutex_unlock(&allocator);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int status = -1;
	pid_t child;

	block = malloc(100);
	signal(SIGUSR1, again);
	if (pthread_create(&thread, NULL, holder, NULL) != 0)
		return 2;
	while (!atomic_load(&is_held))
		usleep(1000);
	child = fork();
	if (child == 0) {
		raise(SIGUSR1);
		_exit(handled == 2 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	pthread_join(thread, NULL);
	printf("%d handled, the child's status %d\n", handled, status);
	free(block);
	return handled == 1 && status == 0 ? 0 : 1;
}
