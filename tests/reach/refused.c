/* refused.c - loses a block of 40 bytes, keeps one of 100, and asks for a dump where the system
 * refuses something.  The argument says what: "clone", "processes", "addresses", or "memory" with
 * the folder of a cgroup. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
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

/* As a user who may have no more processes. */
static void refuse_processes(void)
{
	const struct rlimit none = {0, 0};

	if (setresuid(65534, 65534, 65534) != 0 || setrlimit(RLIMIT_NPROC, &none) != 0)
		_exit(77);
}

/* Leaves no room for another mapping of a megabyte. */
static void refuse_addresses(void)
{
	struct rlimit limit = {0, RLIM_INFINITY};
	unsigned long pages = 0;
	FILE *const file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		_exit(77);
	fclose(file);
	limit.rlim_cur = pages * (unsigned long)getpagesize() + (1u << 20);
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		_exit(77);
}

struct node {
	struct node *next;
	char rest[40];
};

static struct node *volatile nodes;

/* Writes NUMBER to the file NAME or OTHER_NAME of FOLDER. */
static void write_to(const char *folder, const char *name, const char *other_name, long number)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (access(path, W_OK) != 0)
		snprintf(path, sizeof(path), "%s/%s", folder, other_name);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%ld", number) < 0 || fclose(file) != 0)
		_exit(77);
}

/* Fills 32 MiB with nodes that lead to each other, and leaves a quarter of a megabyte free of the
 * memory of the cgroup FOLDER. */
static void refuse_memory(const char *folder)
{
	char path[4096];
	long used = 0;
	FILE *file;

	write_to(folder, "cgroup.procs", "cgroup.procs", getpid());
	for (long size = 0; size < 32 << 20; size += (long)sizeof(struct node)) {
		struct node *const node = malloc(sizeof(*node));

		node->next = nodes;
		nodes = node;
	}
	snprintf(path, sizeof(path), "%s/memory.usage_in_bytes", folder);
	file = fopen(path, "r");
	if (!file) {
		snprintf(path, sizeof(path), "%s/memory.current", folder);
		file = fopen(path, "r");
	}
	if (!file || fscanf(file, "%ld", &used) != 1)
		_exit(77);
	fclose(file);
	write_to(folder, "memory.limit_in_bytes", "memory.max", used + (1 << 18));
}

static void refuse(const char *what, const char *folder)
{
	if (strcmp(what, "clone") == 0)
		refuse_clone();
	if (strcmp(what, "processes") == 0)
		refuse_processes();
	if (strcmp(what, "addresses") == 0)
		refuse_addresses();
	if (strcmp(what, "memory") == 0)
		refuse_memory(folder);
}

int main(int argc, char **argv)
{
	int status;

	lose();
	clear_stack();
	if (argc > 1)
		refuse(argv[1], argc > 2 ? argv[2] : "");
	if (leakwrap_dump(-1) != 0)
		return 1;
	/* The copy is no child of the program's. */
	return waitpid(-1, &status, 0) == -1 && errno == ECHILD ? 0 : 2;
}
