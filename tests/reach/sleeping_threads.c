/* sleeping_threads.c - a thread for each system call that the kernel does not restart waits in it.
 * Dumps stop the threads.  Then each call gets what it waits for.  Prints the calls that returned
 * something else.
 *
 * With an argument: a thread waits for signals instead, each of which must end its call, while
 * another thread asks for dumps. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DUMPS = 5, DUMPS_UNDER_SIGNALS = 100 };

static int ends[2]; /* of a pipe */
static int epoll_fd, queue, set;
static sem_t semaphore;
static struct timespec far_away;

static atomic_int handled;

static void handle(int signo)
{
	(void)signo;
	atomic_fetch_add(&handled, 1);
}

/* -- the calls: each returns whether it has got what it waits for ------------------------------ */

static int by_poll(void)
{
	struct pollfd wanted = {.fd = ends[0], .events = POLLIN};

	return poll(&wanted, 1, -1) == 1;
}

static int by_ppoll(void)
{
	struct pollfd wanted = {.fd = ends[0], .events = POLLIN};

	return ppoll(&wanted, 1, NULL, NULL) == 1;
}

static int by_select(void)
{
	fd_set wanted;

	FD_ZERO(&wanted);
	FD_SET(ends[0], &wanted);
	return select(ends[0] + 1, &wanted, NULL, NULL, NULL) == 1;
}

static int by_epoll_wait(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_fd, &event, 1, -1) == 1;
}

static int by_msgrcv(void)
{
	struct {
		long type;
		char text[8];
	} message;

	return msgrcv(queue, &message, sizeof(message.text), 0, 0) == 0;
}

static int by_semop(void)
{
	struct sembuf take = {.sem_op = -1};

	return semop(set, &take, 1) == 0;
}

static int by_sem_timedwait(void)
{
	return sem_timedwait(&semaphore, &far_away) == 0;
}

static int by_sigwaitinfo(void)
{
	siginfo_t info;
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGRTMAX);
	return sigwaitinfo(&wanted, &info) == SIGRTMAX;
}

#ifndef __i386__
static int by_sleep(void)
{
	return sleep(3) == 0;
}
#endif

static int by_clock_nanosleep(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 3;
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0;
}

static const struct {
	const char *name;
	int (*wait)(void);
} calls[] = {
        {"poll", by_poll},
        {"ppoll", by_ppoll},
        {"select", by_select},
        {"epoll_wait", by_epoll_wait},
        {"msgrcv", by_msgrcv},
        {"semop", by_semop},
        {"sem_timedwait", by_sem_timedwait},
        {"sigwaitinfo", by_sigwaitinfo},
#ifndef __i386__ /* glibc gives the kernel another place for the remaining time */
        {"sleep", by_sleep},
#endif
        {"clock_nanosleep", by_clock_nanosleep},
};

enum { CALLS = sizeof(calls) / sizeof(*calls) };

static pthread_t threads[CALLS];
static atomic_int ids[CALLS];

/* Returns whether the thread with the number neither sleeps in its call nor has ended. */
static int is_awake(size_t number)
{
	const int id = atomic_load(&ids[number]);
	char path[64], state = '?';
	FILE *stat;

	if (id == 0)
		return 1;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
	stat = fopen(path, "r");
	if (!stat)
		return 0;
	if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(stat);
	return state != 'S';
}

/* Waits until no thread has been awake at five looks in turn. */
static void await_sleep(void)
{
	const struct timespec moment = {.tv_nsec = 20000000};

	for (unsigned looks = 0; looks < 5; looks++) {
		nanosleep(&moment, NULL);
		for (size_t i = 0; i < CALLS; i++)
			if (is_awake(i))
				looks = 0;
	}
}

static void *wait_by(void *number)
{
	const size_t i = (size_t)number;

	atomic_store(&ids[i], (int)syscall(SYS_gettid));
	errno = 0;
	if (!calls[i].wait())
		printf("%s: %s\n", calls[i].name, strerror(errno));
	return NULL;
}

static int wait_in_all(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct {
		long type;
	} message = {1};
	struct sembuf give = {.sem_op = 1};

	if (pipe(ends) != 0 || (epoll_fd = epoll_create1(0)) < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, ends[0], &event) != 0 ||
	    (queue = msgget(IPC_PRIVATE, 0600)) < 0 || (set = semget(IPC_PRIVATE, 1, 0600)) < 0)
		return 2;
	sem_init(&semaphore, 0, 0);
	clock_gettime(CLOCK_REALTIME, &far_away);
	far_away.tv_sec += 100;
	for (size_t i = 0; i < CALLS; i++)
		pthread_create(&threads[i], NULL, wait_by, (void *)i);
	for (unsigned i = 0; i < DUMPS; i++) {
		await_sleep();
		raise(SIGUSR1);
	}
	if (write(ends[1], "x", 1) != 1 || msgsnd(queue, &message, 0, 0) != 0 ||
	    semop(set, &give, 1) != 0)
		return 2;
	sem_post(&semaphore);
	pthread_kill(threads[7], SIGRTMAX);
	for (size_t i = 0; i < CALLS; i++)
		pthread_join(threads[i], NULL);
	msgctl(queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
	return 0;
}

/* -- signals of the program -------------------------------------------------------------------- */

static atomic_int ended, dumped, is_over;

/* Each signal comes in ppoll alone, and ends it. */
static void *take_signals(void *unused)
{
	sigset_t none;

	sigemptyset(&none);
	sigaddset(&none, SIGUSR1);
	while (!atomic_load(&is_over)) {
		if (ppoll(NULL, 0, NULL, &none) != -1 || errno != EINTR)
			exit(3);
		atomic_fetch_add(&ended, 1);
	}
	return unused;
}

static void *dump(void *unused)
{
	while (atomic_load(&dumped) < DUMPS_UNDER_SIGNALS) {
		raise(SIGUSR1);
		atomic_fetch_add(&dumped, 1);
	}
	return unused;
}

/* A dump may also end a call that begins when it begins.  No signal is lost. */
static int take_all_signals(void)
{
	pthread_t waits, dumps;
	sigset_t blocked;
	int sent = 0;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigaddset(&blocked, SIGRTMAX);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	pthread_create(&waits, NULL, take_signals, NULL);
	pthread_create(&dumps, NULL, dump, NULL);
	for (; atomic_load(&dumped) < DUMPS_UNDER_SIGNALS; sent++) {
		const int taken = atomic_load(&handled);

		pthread_kill(waits, sent % 2 ? SIGUSR2 : SIGRTMAX);
		while (atomic_load(&handled) == taken)
			sched_yield();
	}
	atomic_store(&is_over, 1);
	pthread_kill(waits, SIGUSR2);
	pthread_join(waits, NULL);
	pthread_join(dumps, NULL);
	return atomic_load(&ended) >= sent ? 0 : 4;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle};

	(void)argv;
	sigaction(SIGUSR2, &action, NULL);
	if (argc == 1) {
		sigset_t wanted;

		sigemptyset(&wanted);
		sigaddset(&wanted, SIGRTMAX);
		pthread_sigmask(SIG_BLOCK, &wanted, NULL);
		return wait_in_all();
	}
	sigaction(SIGRTMAX, &action, NULL);
	return take_all_signals();
}
