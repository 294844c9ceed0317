/* refused.c - loses a block of 40 bytes, keeps one of 100, and asks for a dump where the system
 * refuses something.  Arguments: "clone" or "memory" or nothing. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leakwrap.h"

static void *volatile kept;

static __attribute__((noinline)) void lose(void)
{
	kept = malloc(40);
	kept = malloc(100);
}

static __attribute__((noinline)) void clear_stack(void)
{
	volatile char room[8192];

	memset((char *)room, 0, sizeof(room));
}

/* Makes clone, ptrace and process_vm_readv fail with EPERM. */
static void refuse_clone(void)
{
	struct sock_filter filter[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 1, 0),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		_exit(77);
}

int main(int argc, char **argv)
{
	int status;

	lose();
	clear_stack();
	if (argc > 1 && strcmp(argv[1], "clone") == 0)
		refuse_clone();
	if (leakwrap_dump(-1) != 0)
		return 1;
	/* The copy is no child of the program's. */
	return waitpid(-1, &status, 0) == -1 && errno == ECHILD ? 0 : 2;
}
