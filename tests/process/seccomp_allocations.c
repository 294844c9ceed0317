/* seccomp_allocations.c [all] - allocates under a seccomp filter that ends the process at each call
 * but those that leakwrap(7) names for allocations.  Without "all" it allows none of those that the
 * tracer alone uses here.  Ends with 77 if there are no filters. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(number)                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif

static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_mmap2 /* 32 bits */
        ALLOW(SYS_mmap2),
#else
        ALLOW(SYS_mmap),
#endif
        ALLOW(SYS_munmap),
        ALLOW(SYS_futex),
        ALLOW(SYS_rt_sigprocmask),
        ALLOW(SYS_rt_sigreturn),
        /* Of the C library and the program. */
        ALLOW(SYS_brk),
        ALLOW(SYS_mprotect),
        ALLOW(SYS_mremap),
        ALLOW(SYS_getrandom),
        ALLOW(SYS_madvise),
        ALLOW(SYS_sched_getaffinity),
        ALLOW(SYS_exit),
        ALLOW(SYS_exit_group),
        /* Of the tracer. */
        ALLOW(SYS_getpid),
        ALLOW(SYS_gettid),
        ALLOW(SYS_mincore),
        ALLOW(SYS_membarrier),
        ALLOW(SYS_tgkill),
        ALLOW(SYS_msync),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

enum { OF_TRACER = 6, BLOCKS = 400 };

static pthread_barrier_t stages; /* the thread has started; the filter is there */

/* Has not allocated before the filter. */
static void *allocate(void *unused)
{
	static void *volatile blocks[BLOCKS];

	pthread_barrier_wait(&stages);
	pthread_barrier_wait(&stages);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < BLOCKS; i++) {
			free(blocks[i]);
			blocks[i] = malloc((size_t)1 << (10 + (i + round) % 11));
			if (!blocks[i])
				_exit(2);
		}
	_exit(0);
	return unused;
}

int main(int argc, char **argv)
{
	const size_t count = sizeof(filter) / sizeof(*filter);
	struct sock_fprog program = {(unsigned short)count, filter};
	pthread_t thread;

	(void)argv;
	if (argc < 2) {
		filter[count - 1 - (size_t)2 * OF_TRACER] = filter[count - 1];
		program.len = (unsigned short)(count - (size_t)2 * OF_TRACER);
	}
	if (pthread_barrier_init(&stages, NULL, 2) != 0 ||
	    pthread_create(&thread, NULL, allocate, NULL) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 1;
	pthread_barrier_wait(&stages);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		return 77;
	pthread_barrier_wait(&stages);
	pthread_join(thread, NULL);
	return 3;
}
