/* seccomp_dumps.c [otherwise|crash|strict] - allocates and asks for dumps under a seccomp filter,
 * also in a child and to a pipe that nobody reads.
 *
 * The filter kills the process for a system call that neither the C library's allocator nor the
 * tracer needs (leakwrap(7) lists these). It refuses the calls that the tracer can do without. With
 * "otherwise" it refuses in another way, but allows mincore, on which other calls depend. With
 * "crash" a thread dies of a signal. With "strict" the program uses the strict mode instead, and
 * has disabled the tracer. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leakwrap.h"

static const long allowed[] = {
        SYS_munmap,
        SYS_mprotect,
        SYS_brk,
        SYS_futex,
        SYS_write,
        SYS_getpid,
        SYS_gettid,
        SYS_poll,
        SYS_close,
        SYS_rt_sigprocmask,
        SYS_exit,
        SYS_exit_group,
        SYS_rt_sigreturn,
        SYS_rt_sigpending,
        SYS_tgkill,
        SYS_rt_sigtimedwait,
        SYS_clock_gettime,
        SYS_clone,
        SYS_set_robust_list,
        SYS_wait4,
#ifdef SYS_newfstatat
        SYS_mmap,
        SYS_fcntl,
        SYS_newfstatat,
#else /* 32 bits */
        SYS_mmap2,           SYS_fcntl64,       SYS_fstat64,
        SYS_fstatat64,       SYS_statx,
#endif
};

/* With "otherwise", mincore is allowed. */
static const long refused[] = {
        SYS_open,       SYS_openat, SYS_madvise, SYS_ioctl,      SYS_lseek,   SYS_read,
        SYS_readlinkat, SYS_mremap, SYS_msync,   SYS_membarrier, SYS_mincore,
};

/* Allowed with "crash", for the crash itself and for the C library's threads. */
static const long allowed_to_crash[] = {SYS_rt_sigaction, SYS_sigaltstack, SYS_clone3, SYS_rseq};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void *volatile kept;

static struct sock_filter
        filter[1 + 2 * (COUNT(allowed) + COUNT(refused) + COUNT(allowed_to_crash)) + 1];
static unsigned short filled;

static void add(struct sock_filter statement)
{
	filter[filled++] = statement;
}

static void answer(const long *calls, size_t count, unsigned how)
{
	for (size_t i = 0; i < count; i++) {
		add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0,
		                                 1));
		add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, how));
	}
}

static void confine(bool otherwise, bool crashes)
{
	struct sock_fprog program = {.filter = filter};

	add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                 offsetof(struct seccomp_data, nr)));
	answer(allowed, COUNT(allowed), SECCOMP_RET_ALLOW);
	if (crashes)
		answer(allowed_to_crash, COUNT(allowed_to_crash), SECCOMP_RET_ALLOW);
	if (otherwise)
		answer(refused + COUNT(refused) - 1, 1, SECCOMP_RET_ALLOW);
	answer(refused, COUNT(refused), SECCOMP_RET_ERRNO | (otherwise ? ENOSYS : EPERM));
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	program.len = filled;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		exit(77);
}

static void *crash(void *nowhere)
{
	kept = malloc(10);
	*(volatile char *)nowhere = 1;
	return NULL;
}

/* Leaves with a dump of its own. */
static int in_child(void)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0) {
		kept = malloc(10);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child ? status : 1;
}

/* Allocates in the strict mode, with a stack that the tracer does not know. */
static void allocate_strictly(void)
{
	kept = malloc(100);
	leakwrap_disable();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
		_exit(77);
	kept = malloc(200);
	kept = realloc(kept, 400);
	free(kept);
	syscall(SYS_exit, 0);
}

int main(int argc, char **argv)
{
	static void *block[20000];
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;
	int ends[2];

	if (strcmp(how, "strict") == 0)
		allocate_strictly();
	free(malloc(1)); /* the first call of the C library asks for random bytes */
	if (pipe(ends) != 0)
		return 2;
	close(ends[0]);
	confine(strcmp(how, "otherwise") == 0, strcmp(how, "crash") == 0);
	for (int i = 0; i < 100000; i++) {
		kept = malloc(100);
		if (i >= 100)
			free(kept);
	}
	for (int i = 0; i < 100; i++)
		kept = malloc((size_t)1 << 20);
	for (int i = 0; i < 20000; i++)
		block[i] = malloc(100);
	for (int i = 0; i < 20000; i++)
		free(block[i]);
	raise(SIGUSR1);
	if (leakwrap_dump(ends[1]) == 0 || in_child() != 0)
		return 3;
	if (strcmp(how, "crash") == 0 && pthread_create(&thread, NULL, crash, NULL) == 0)
		pthread_join(thread, NULL);
	return leakwrap_dump(-1) == 0 ? 0 : 1;
}
