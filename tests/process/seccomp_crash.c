/* seccomp_crash.c CALL - installs a filter that refuses the system call CALL, by its name, and
 * writes to address 8. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int *volatile nowhere = (int *)8;
static void *volatile kept;

int main(int count, char **words)
{
	const int is_mask = count > 1 && strcmp(words[1], "rt_sigprocmask") == 0;
	const unsigned call = is_mask ? __NR_rt_sigprocmask : __NR_rt_sigaction;
	struct sock_filter filter[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	kept = malloc(100);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	*nowhere = 1;
	return 1;
}
