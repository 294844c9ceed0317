/* own_handlers.c CASE - uses SIGUSR1 itself in one of many ways, and prints what it sees. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int calls, argument_ok, hup_was_blocked, usr1_was_blocked;

static void count(int number)
{
	sigset_t now;

	sigprocmask(SIG_SETMASK, NULL, &now);
	hup_was_blocked = sigismember(&now, SIGHUP);
	usr1_was_blocked = sigismember(&now, SIGUSR1);
	calls++;
	argument_ok = number == SIGUSR1;
}

static void count_with_info(int number, siginfo_t *info, void *context)
{
	count(number);
	argument_ok = info && info->si_signo == SIGUSR1 && info->si_pid == getpid() && context;
}

static const char *view(void)
{
	struct sigaction now;

	if (sigaction(SIGUSR1, NULL, &now))
		return "error";
	if (now.sa_flags & SA_SIGINFO)
		return now.sa_sigaction == count_with_info ? "mine, with info"
		                                           : "a stranger's, with info";
	return now.sa_handler == SIG_DFL   ? "default"
	       : now.sa_handler == SIG_IGN ? "ignored"
	       : now.sa_handler == count   ? "mine"
	                                   : "a stranger's";
}

static void install(int flags)
{
	struct sigaction action = {.sa_flags = flags};

	if (flags & SA_SIGINFO)
		action.sa_sigaction = count_with_info;
	else
		action.sa_handler = count;
	sigaddset(&action.sa_mask, SIGHUP);
	if (sigaction(SIGUSR1, &action, NULL))
		exit(1);
}

static void *send_soon(void *to)
{
	usleep(100000);
	pthread_kill(*(pthread_t *)to, SIGUSR1);
	return NULL;
}

static void wait_with(const char *how)
{
	struct timespec time = {.tv_sec = 10};
	pthread_t self = pthread_self(), sender;
	siginfo_t info;
	sigset_t usr1;
	int number = 0;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
	pthread_create(&sender, NULL, send_soon, &self);
	if (strcmp(how, "sigwait") == 0)
		printf("returned %d", sigwait(&usr1, &number));
	else if (strcmp(how, "sigwaitinfo") == 0)
		number = sigwaitinfo(&usr1, &info);
	else
		number = sigtimedwait(&usr1, &info, &time);
	printf(" signal %d\n", number);
	pthread_join(sender, NULL);
	time.tv_sec = 0;
	if (strcmp(how, "sigtimedwait") == 0) {
		errno = 0;
		number = sigtimedwait(&usr1, NULL, &time);
		printf("nothing more: %d %s\n", number, strerror(errno));
	}
}

int main(int argc, char **argv)
{
	const char *test = argc == 2 ? argv[1] : "";

	printf("at start: %s\n", view());
	if (strcmp(test, "sigaction") == 0) {
		install(0);
		raise(SIGUSR1);
		raise(SIGUSR1);
	} else if (strcmp(test, "siginfo") == 0) {
		install(SA_SIGINFO);
		raise(SIGUSR1);
	} else if (strcmp(test, "nodefer") == 0) {
		install(SA_NODEFER);
		raise(SIGUSR1);
	} else if (strcmp(test, "signal") == 0) {
		printf("signal: %s\n", signal(SIGUSR1, count) == SIG_DFL ? "default before" : "?");
		printf("signal: %s\n", signal(SIGUSR1, count) == count ? "mine before" : "?");
		raise(SIGUSR1);
	} else if (strcmp(test, "resethand") == 0) {
		install((int)SA_RESETHAND);
		raise(SIGUSR1);
		printf("after one: %s\n", view());
	} else if (strcmp(test, "ignore") == 0) {
		signal(SIGUSR1, SIG_IGN);
		raise(SIGUSR1);
	} else if (strncmp(test, "sig", 3) == 0) {
		wait_with(test);
	}
	printf("at the end: %s, %d calls, argument %d, SIGHUP blocked %d, SIGUSR1 blocked %d\n",
	       view(), calls, argument_ok, hup_was_blocked, usr1_was_blocked);
	return 0;
}
