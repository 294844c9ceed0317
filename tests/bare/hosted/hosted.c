/* hosted.c - defines what the leaks of tests/targets/program.c need of an operating system, on top
 * of rtos.h. The rest fails. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bare/board.h"
#include "leakwrap_bare.h"
#include "tests/bare/rtos.h"

static uint64_t memory[1024];

const struct leakwrap_bare leakwrap_bare = {
        BOARD_MEMBERS,
        .live_blocks = 64,
        .write = console_write,
        .task = board_describe_unnamed_task,
        .program = "program.elf",
};

/* -- one thread at a time ---------------------------------------------------------------------- */

/* One of the vendor's frames takes a page. */
#define STACK_SIZE 9000

static void *(*thread_run)(void *);
static void *thread_argument;

static void run_thread(void)
{
	thread_run(thread_argument);
}

int pthread_create(pthread_t *thread, const void *attributes, void *(*run)(void *), void *argument)
{
	(void)attributes;
	*thread = 1;
	thread_run = run;
	thread_argument = argument;
	task_create("thread", run_thread, STACK_SIZE);
	return 0;
}

int pthread_join(pthread_t thread, void **result)
{
	(void)thread, (void)result;
	tasks_run();
	return 0;
}

/* -- signals: only the request for a dump ------------------------------------------------------ */

int raise(int signo)
{
	return signo == SIGUSR1 ? leakwrap_dump(-1) : -1;
}

/* -- functions that newlib does not have ------------------------------------------------------- */

int posix_memalign(void **block, size_t alignment, size_t size)
{
	*block = memalign(alignment, size);
	return *block ? 0 : ENOMEM;
}

/* -- functions that fail ----------------------------------------------------------------------- */

int sigemptyset(sigset_t *set)
{
	(void)set;
	return -1;
}

int sigaddset(sigset_t *set, int signo)
{
	(void)set, (void)signo;
	return -1;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	(void)how, (void)set, (void)before;
	return -1;
}

int sigtimedwait(const sigset_t *set, void *info, const struct timespec *limit)
{
	(void)set, (void)info, (void)limit;
	return -1;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	(void)pid, (void)status, (void)options;
	return -1;
}

pid_t fork(void)
{
	return -1;
}

int execv(const char *path, char *const *arguments)
{
	(void)path, (void)arguments;
	return -1;
}

int execve(const char *path, char *const *arguments, char *const *environment)
{
	(void)path, (void)arguments, (void)environment;
	return -1;
}

int execvp(const char *path, char *const *arguments)
{
	(void)path, (void)arguments;
	return -1;
}

int execl(const char *path, const char *argument, ...)
{
	(void)path, (void)argument;
	return -1;
}

int execlp(const char *path, const char *argument, ...)
{
	(void)path, (void)argument;
	return -1;
}

int execle(const char *path, const char *argument, ...)
{
	(void)path, (void)argument;
	return -1;
}
