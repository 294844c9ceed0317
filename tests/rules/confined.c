/* confined.c - under a seccomp filter that kills the process for every system call which neither the C library's allocator
 * nor the tracer needs (the list is in the README), and refuses those that the tracer can do without; allocates and asks
 * for dumps.  With an argument it refuses in another way, and not mincore, on which others depend. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leakwrap.h"

static const long allowed[] = {
        SYS_mmap,  SYS_munmap,         SYS_mprotect,     SYS_brk,        SYS_futex,
        SYS_write, SYS_clock_gettime,  SYS_getpid,       SYS_gettid,     SYS_poll,
        SYS_close, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_fcntl,      SYS_rt_sigpending,
        SYS_exit,  SYS_exit_group,     SYS_tgkill,       SYS_newfstatat,
};

static const long
        refused
                [] =
                        {
                                SYS_open,  SYS_openat,     SYS_madvise,    SYS_ioctl,
                                SYS_lseek, SYS_read,       SYS_readlinkat, SYS_mremap,
                                SYS_msync, SYS_membarrier, SYS_mincore, /* the last one not always */
};

enum { ALLOWED = sizeof(allowed) / sizeof(allowed[0]), REFUSED = sizeof(refused) / sizeof(refused[0]) };

static void *volatile kept;

static void confine(bool mincore, unsigned error)
{
	struct sock_filter filter[1 + 2 * (ALLOWED + REFUSED) + 1];
	struct sock_fprog program = {.filter = filter};
	unsigned short n = 0;

	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                           offsetof(struct seccomp_data, nr));
	for (int i = 0; i < ALLOWED + REFUSED; i++) {
		long number = i < ALLOWED ? allowed[i] : refused[i - ALLOWED];
		bool allows = i < ALLOWED || (number == SYS_mincore && mincore);

		filter[n++] =
		        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
		filter[n++] = (struct sock_filter)BPF_STMT(
		        BPF_RET | BPF_K, allows ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | error);
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		exit(77);
}

int main(int argc, char **argv)
{
	static void *block[20000];

	(void)argv;
	free(malloc(1)); /* the C library asks for random bytes at first */
	confine(argc > 1, argc > 1 ? ENOSYS : EPERM);
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
	return leakwrap_dump(-1) == 0 ? 0 : 1;
}
