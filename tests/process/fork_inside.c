/* fork_inside.c FOLDER - a thread works, and stops at one of the tracer's system calls.  Meanwhile
 * the process forks, and the child does the same work.  This is done for each system call.  Of
 * calls from one place with one first argument, it is done for the first SAME.
 *
 * The work: the dump signal gets a handler with a small alternate stack, memory rises, which looks
 * for the peak and writes a dump, and a dump is asked for by a signal.  FOLDER has the logs.
 *
 * Is linked with --wrap=leakwrap_call_kernel.  Ends with 0 if each child has come to its end, and
 * has written the dumps that its parent would have written. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/noinline.h"
#include "wrap/base/readers.h"

enum { STACK = 65536, OWN = 3072, STOP_MS = 100, LIMIT_MS = 10000, PLACES = 1024, SAME = 1 };

long __real_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f);

static const char *folder;
static void *volatile kept[3];
static void *stack_of_thread;
static char alternate_stack[2][STACK];
/* Volatile: glibc declares that its functions do not call back into this file. */
static _Thread_local volatile bool counts;
static unsigned calls, stops_at;
static atomic_bool has_stopped, has_forked, has_ended;
static _Atomic int handled;
static size_t frame_size; /* what the kernel stores on a stack for signals */

static struct {
	void *place;
	long argument;
	unsigned count;
} places[PLACES];

/* Returns whether a call from PLACE with the first ARGUMENT counts. */
static bool is_new(void *place, long argument)
{
	unsigned i = 0;

	while (i + 1 < PLACES && places[i].place &&
	       (places[i].place != place || places[i].argument != argument))
		i++;
	places[i].place = place;
	places[i].argument = argument;
	return places[i].count++ < SAME;
}

/* Stops before the call, for a short time: the fork may wait for this thread. */
long __wrap_leakwrap_call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	if (counts && is_new(__builtin_return_address(0), a) && calls++ == stops_at) {
		atomic_store(&has_stopped, true);
		for (int i = 0; i < STOP_MS && !atomic_load(&has_forked); i++)
			usleep(1000);
	}
	return __real_leakwrap_call_kernel(number, a, b, c, d, e, f);
}

static void handle(int signo)
{
	const uintptr_t top = (uintptr_t)alternate_stack[0] + STACK;

	if (signo == SIGUSR2)
		frame_size = top - (uintptr_t)__builtin_frame_address(0);
	atomic_fetch_add(&handled, 1);
}

static void use_stack(int who, size_t size)
{
	const stack_t stack = {.ss_sp = alternate_stack[who], .ss_size = size};

	sigaltstack(&stack, NULL);
}

static void install(int signo)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

	sigaction(signo, &action, NULL);
}

static NOINLINE void *allocate(size_t size)
{
	void *block = malloc(size);

	return block ? memset(block, 1, size) : NULL;
}

static NOINLINE void work(int who)
{
	use_stack(who, frame_size + OWN);
	install(SIGUSR1);
	kept[who] = allocate((size_t)(who + 1) << 21);
	raise(SIGUSR1);
}

/* Returns where the alternate stack of this thread is that crash=1 has given it. */
static void *given_stack(void)
{
	stack_t stack = {.ss_sp = NULL};

	kept[2] = allocate(10);
	sigaltstack(NULL, &stack);
	return stack.ss_sp;
}

static void *work_and_stop(void *unused)
{
	stack_of_thread = given_stack();
	counts = true;
	work(0);
	counts = false;
	atomic_store(&has_ended, true);
	return unused;
}

/* Ends the process with a message. */
static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "call %u: %s\n", stops_at, what);
	_exit(1);
}

/* The log of this process.  The child has not inherited a number of dumps. */
static void check_log(void)
{
	static char text[1 << 16];
	char path[4096], first[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "%s/%d", folder, (int)getpid());
	fd = open(path, O_RDONLY);
	length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	text[length > 0 ? length : 0] = '\0';
	snprintf(first, sizeof(first), "leakwrap[%d.1] dump ", (int)getpid());
	if (strncmp(text, first, strlen(first)) != 0)
		fail("the first dump in the child has another number, or is missing");
	if (!strstr(text, " reason=height "))
		fail("no dump of a new height in the child");
	if (!strstr(text, " reason=signal "))
		fail("no dump by a signal in the child");
	unlink(path);
}

/* A thread of the child gets the stack that the parent's thread had. */
static void *check_stack(void *unused)
{
	if (given_stack() != stack_of_thread)
		fail("the stack of the parent's thread is not free in the child");
	return unused;
}

/* What the program has not set in the child interrupts no system call there, although the parent's
 * thread was about to set it. */
static void check_action(void)
{
	struct {
		void *handler;
		unsigned long flags, others[16];
	} now;
	struct sigaction view;

	sigaction(SIGUSR1, NULL, &view);
	if (syscall(SYS_rt_sigaction, SIGUSR1, NULL, &now, sizeof(uint64_t)) != 0)
		fail("no action");
	if (view.sa_handler == SIG_DFL && (now.flags & SA_RESTART) == 0)
		fail("the action of the parent's thread has stayed");
}

static _Noreturn void be_child(void)
{
	struct leakwrap_grace grace;
	pthread_t thread;

	atomic_store(&handled, 0);
	check_action();
	leakwrap_grace_begin(&grace);
	if (!leakwrap_grace_is_over(&grace))
		fail("a thread of the parent reads tables in the child");
	work(1);
	if (atomic_load(&handled) != 1)
		fail("the child's handler was not called");
	if (pthread_create(&thread, NULL, check_stack, NULL) != 0)
		fail("no thread in the child");
	pthread_join(thread, NULL);
	check_log();
	_exit(0);
}

/* Returns whether CHILD ends with status 0, and kills it if it does not end. */
static bool ends_well(pid_t child)
{
	int status = 1;

	for (int i = 0; i < LIMIT_MS; i++, usleep(1000))
		if (waitpid(child, &status, WNOHANG) == child)
			return status == 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return false;
}

/* Forks while a thread stops at the call STOPS_AT.  Ends the process: with 2 if the thread does not
 * make so many calls. */
static _Noreturn void fork_inside(void)
{
	char path[4096];
	pthread_t thread;
	pid_t child;

	if (pthread_create(&thread, NULL, work_and_stop, NULL) != 0)
		fail("no thread");
	while (!atomic_load(&has_stopped) && !atomic_load(&has_ended))
		usleep(100);
	child = fork();
	if (child == 0)
		be_child();
	atomic_store(&has_forked, true);
	if (!ends_well(child))
		fail("the child does not end with status 0");
	pthread_join(thread, NULL);
	snprintf(path, sizeof(path), "%s/%d", folder, (int)getpid());
	unlink(path);
	_exit(atomic_load(&has_stopped) ? 0 : 2);
}

int main(int argc, char **argv)
{
	int status = 0;

	folder = argc > 1 ? argv[1] : ".";
	use_stack(0, STACK);
	install(SIGUSR2);
	raise(SIGUSR2);
	for (; status == 0; stops_at++) {
		if (fork() == 0)
			fork_inside();
		if (wait(&status) < 0)
			return 3;
	}
	return !WIFEXITED(status) || WEXITSTATUS(status) != 2 || stops_at < 20;
}
