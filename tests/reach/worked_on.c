/* worked_on.c - threads work on jobs that they have taken out of a list, as libuv's do.  They have
 * the address of a node in the job, or that of the part in front of it.  A node that was taken out
 * of a list leads to itself.  Similar parts are no such nodes. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/clear_stack.h"

enum { JOBS = 6 };

struct link {
	struct link *volatile next, *volatile last;
};

/* As struct uv__work of libuv. */
struct work {
	void (*volatile run)(struct work *work), (*volatile end)(struct work *work);
	void *volatile loop;
	struct link link;
};

struct job {
	uintptr_t name[5];
	struct work work;
	uintptr_t later[4];
};

static struct link jobs = {&jobs, &jobs};
static struct job *volatile owner; /* keeps the address of another job's node */
static struct link *volatile stale[2];
static struct link *volatile half;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t running;

static void wait_for_the_end(struct work *work)
{
	(void)work;
	sem_post(&running);
	for (;;)
		sigsuspend(&(sigset_t){0});
}

static struct job *make_job(void)
{
	struct job *const job = calloc(1, sizeof(*job));

	job->work.run = wait_for_the_end;
	job->work.link.next = job->work.link.last = &job->work.link;
	return job;
}

static NOINLINE void add_jobs(void)
{
	for (int i = 0; i < JOBS; i++) {
		struct link *const link = &make_job()->work.link;

		link->next = &jobs;
		link->last = jobs.last;
		jobs.last->next = link;
		jobs.last = link;
	}
}

/* Each thread keeps one address alone: every second that of the part, the others that of the node.
 */
static void *run(void *is_part)
{
	struct link *volatile link;
	struct work *volatile work = NULL;

	pthread_mutex_lock(&lock);
	link = jobs.next;
	link->next->last = &jobs;
	jobs.next = link->next;
	link->next = link->last = link;
	pthread_mutex_unlock(&lock);
	if (is_part) {
		work = (struct work *)((char *)link - offsetof(struct work, link));
		link = NULL;
		clear_stack();
		work->run(work);
	} else {
		clear_stack();
		wait_for_the_end(NULL);
	}
	return link ? link : (void *)work;
}

/* Holds jobs by what is no node on which a thread works: another block has its address, the address
 * stands twice, one of its links leads elsewhere. */
static NOINLINE void make_others(void)
{
	owner = make_job();
	owner->later[1] = (uintptr_t)&make_job()->work.link;
	stale[0] = stale[1] = &make_job()->work.link;
	half = &make_job()->work.link;
	half->last = NULL;
}

int main(void)
{
	pthread_t thread;

	sem_init(&running, 0, 0);
	add_jobs();
	for (uintptr_t i = 0; i < JOBS; i++)
		if (pthread_create(&thread, NULL, run, (void *)(i % 2)) != 0)
			return 1;
	for (int i = 0; i < JOBS; i++)
		sem_wait(&running);
	make_others();
	clear_stack();
	return raise(SIGUSR1);
}
