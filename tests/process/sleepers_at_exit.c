/* sleepers_at_exit.c WHO HOW - threads sleep until the process has gone.
 *
 * With WHO "main", main returns 0, and a thread that sleeps would then end the process by HOW:
 * exit, _exit or abort.  With WHO "thread", a thread calls exit(5), and main returns 0 after its
 * sleep by HOW: pause, poll or select. */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

static void *volatile kept;

static void *end_after_sleep(void *how)
{
	sleep(60);
	if (strcmp(how, "exit") == 0)
		exit(9);
	if (strcmp(how, "_exit") == 0)
		_exit(9);
	abort();
}

static void *end_soon(void *unused)
{
	(void)unused;
	usleep(50000);
	exit(5);
}

static void sleep_by(const char *how)
{
	struct timeval minute = {60, 0};

	if (strcmp(how, "pause") == 0)
		pause();
	else if (strcmp(how, "poll") == 0)
		poll(NULL, 0, 60000);
	else
		select(0, NULL, NULL, NULL, &minute);
}

int main(int count, char **words)
{
	const int is_main = count == 3 && strcmp(words[1], "main") == 0;
	pthread_t thread;

	kept = malloc(1000);
	kept = NULL;
	if (count != 3 || pthread_create(&thread, NULL, is_main ? end_after_sleep : end_soon,
	                                 is_main ? words[2] : NULL) != 0)
		return 1;
	if (is_main)
		usleep(50000);
	else
		sleep_by(words[2]);
	return 0;
}
