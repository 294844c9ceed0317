/* idle_process.c HOW - holds one block, waits in a system call, and prints how the wait ended. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept;

/* System V semaphores and queues outlive the process, so each function removes its own. */
static long wait_for_semaphore(void)
{
	int semaphores = semget(IPC_PRIVATE, 1, 0600);
	struct sembuf down = {.sem_op = -1};
	long got = semop(semaphores, &down, 1);
	int why = errno;

	semctl(semaphores, 0, IPC_RMID);
	errno = why;
	return got;
}

static long wait_for_message(void)
{
	int queue = msgget(IPC_PRIVATE, 0600);
	struct {
		long type;
		char text[8];
	} message;
	long got = msgrcv(queue, &message, sizeof(message.text), 0, 0);
	int why = errno;

	msgctl(queue, IPC_RMID, NULL);
	errno = why;
	return got;
}

static long accept_within_a_minute(void)
{
	const struct timeval minute = {.tv_sec = 60};
	int listening = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof(minute));
	listen(listening, 1);
	return accept(listening, NULL, NULL);
}

int main(int argc, char **argv)
{
	struct timespec minute = {.tv_sec = 60};
	struct timeval minute_too = {.tv_sec = 60};
	struct epoll_event event;
	sigset_t none;
	const char *how = argc == 2 ? argv[1] : "";
	char byte;
	long got;

	sigemptyset(&none);
	kept = malloc(123);
	puts("waiting");
	fflush(stdout);
	errno = 0;
	if (strcmp(how, "pause") == 0)
		got = pause();
	else if (strcmp(how, "sleep") == 0)
		got = nanosleep(&minute, NULL);
	else if (strcmp(how, "usleep") == 0)
		got = usleep(60000000);
	else if (strcmp(how, "poll") == 0)
		got = poll(NULL, 0, 60000);
	else if (strcmp(how, "select") == 0)
		got = select(0, NULL, NULL, NULL, &minute_too);
	else if (strcmp(how, "epoll_wait") == 0)
		got = epoll_wait(epoll_create1(0), &event, 1, 60000);
	else if (strcmp(how, "sigsuspend") == 0)
		got = sigsuspend(&none);
	else if (strcmp(how, "semop") == 0)
		got = wait_for_semaphore();
	else if (strcmp(how, "msgrcv") == 0)
		got = wait_for_message();
	else if (strcmp(how, "accept") == 0)
		got = accept_within_a_minute();
	else
		got = read(STDIN_FILENO, &byte, 1);
	printf("%ld %s\n", got, errno == EINTR ? "interrupted" : strerror(errno));
	return 0;
}
