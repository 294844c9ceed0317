/* priority.c - a thread that has the tables' lock gets the priority of a real-time thread that
 * waits.  Then real-time and ordinary threads take turns with the lock.  Ends with 77 if the system
 * allows no real-time threads. */
#include "wrap/port/port.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REALTIME = 2, THREADS = 4, TURNS = 20000, SECONDS = 60 };

static struct leakwrap_lock lock;
static sem_t has_lock, may_release;
static _Atomic int holder;
static unsigned long count;

static int become_realtime(void)
{
	const struct sched_param priority = {.sched_priority = 5};

	return pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
}

static void *hold(void *unused)
{
	leakwrap_lock(&lock);
	atomic_store(&holder, leakwrap_thread_id());
	sem_post(&has_lock);
	sem_wait(&may_release);
	leakwrap_unlock(&lock);
	return unused;
}

static void *want(void *unused)
{
	if (become_realtime() != 0)
		_exit(77);
	leakwrap_lock(&lock);
	leakwrap_unlock(&lock);
	return unused;
}

/* Returns the priority of THREAD: field 18 of its stat (proc(5)), negative for real-time. */
static int priority_of(int thread)
{
	char path[64], line[1024] = "";
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file))
		exit(2);
	fclose(file);
	at = strrchr(line, ')');
	for (int field = 2; at && field < 18; field++)
		at = strchr(at + 1, ' ');
	return at ? atoi(at) : 0;
}

static void lend_priority(void)
{
	pthread_t holds, wants;

	pthread_create(&holds, NULL, hold, NULL);
	sem_wait(&has_lock);
	pthread_create(&wants, NULL, want, NULL);
	while (priority_of(atomic_load(&holder)) >= 0)
		usleep(1000);
	sem_post(&may_release);
	pthread_join(holds, NULL);
	pthread_join(wants, NULL);
}

static void *take_turns(void *number)
{
	if (*(int *)number < REALTIME)
		become_realtime();
	for (int i = 0; i < TURNS; i++) {
		leakwrap_lock(&lock);
		count++;
		if (i % 1000 == 0)
			usleep(2000); /* the others wait for longer than usual */
		leakwrap_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	int number[THREADS];

	alarm(SECONDS);
	if (sem_init(&has_lock, 0, 0) != 0 || sem_init(&may_release, 0, 0) != 0)
		return 2;
	lend_priority();
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, take_turns, &number[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return count == (unsigned long)THREADS * TURNS ? 0 : 1;
}
