/* seccomp_closed_stderr.c - closes its standard streams under a seccomp filter that kills it where
 * it duplicates a descriptor by fcntl(2), as chronyd's does.  Asks for a dump, and looks whether
 * the streams are closed still.  Then it ends. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leakwrap.h"

#ifdef SYS_fcntl64
#define CALL SYS_fcntl64
#else
#define CALL SYS_fcntl
#endif
#define WORD(member) ((unsigned)offsetof(struct seccomp_data, member))

static void *volatile kept;

static void confine(void)
{
	struct sock_filter filter[] = {
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(nr)),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)CALL, 0, 4),
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WORD(args[1])),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD, 1, 0),
	        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD_CLOEXEC, 0, 1),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		exit(77);
}

int main(void)
{
	kept = malloc(100);
	confine();
	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	if (leakwrap_dump(-1) != 0)
		return 1;
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			return 2;
	return 0;
}
