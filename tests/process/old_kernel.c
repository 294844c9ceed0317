/* old_kernel.c - runs a program as on Linux 2.6.32: later system calls fail with ENOSYS.
 *
 *   old_kernel PROGRAM ARGUMENT...
 *
 * Ends with 77 if there are no filters. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The numbers of perf_event_open(2), the last call that came by then. */
enum { LAST_X86_64 = 298, LAST_I386 = 336 };

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))

int main(int argc, char **argv)
{
	struct sock_filter steps[] = {
	        LOAD(arch),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_I386, 0, 2),
	        LOAD(nr),
	        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_I386, 2, 3),
	        LOAD(nr),
	        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_X86_64, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(steps) / sizeof(steps[0]), steps};

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 77;
	execv(argv[1], argv + 1);
	return 127;
}
