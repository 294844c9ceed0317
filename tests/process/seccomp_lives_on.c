/* seccomp_lives_on.c HOW [wait|catch] - enters a sandbox that ends the process at a system call it
 * does not know, and allocates there.  HOW says which calls it knows, or how the program enters it:
 *
 *   least    those of the C library's allocator and threads
 *   dumps    also those that a dump to standard error needs
 *   syscall  as dumps, by syscall(SYS_seccomp, ...)
 *   prctl    as dumps, by syscall(SYS_prctl, ...)
 *   listener as dumps, by syscall(SYS_seccomp, ...) with a descriptor for a listener
 *   load     as dumps, by libseccomp (compiled with WITH_LIBRARY)
 *   refused  none; but the kernel refuses the filter
 *   vfork    none; but a child of vfork enters it
 *   strict   the strict mode, in a forked child
 *
 * With "wait" it waits there until a signal ends it, with "catch" it also catches SIGUSR1, and ends
 * with 9 then.  Ends with 77 if there are no filters. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef WITH_LIBRARY
#include <seccomp.h>
#endif

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER 8
#endif
#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif

#ifdef SYS_mmap2 /* 32 bits */
#undef SYS_mmap
#define SYS_mmap SYS_mmap2
#endif

static const long least[] = {SYS_mmap,         SYS_munmap, SYS_brk,
                             SYS_mprotect,     SYS_mremap, SYS_madvise,
                             SYS_getrandom,    SYS_exit,   SYS_exit_group,
                             SYS_clone,        SYS_clone3, SYS_set_robust_list,
                             SYS_futex,        SYS_rseq,   SYS_rt_sigprocmask,
                             SYS_rt_sigaction, SYS_pause,  SYS_sched_getaffinity};

static const long of_dumps[] = {
        SYS_write,      SYS_poll, SYS_kill, SYS_rt_sigreturn, SYS_rt_sigpending,
#ifdef SYS_newfstatat
        SYS_newfstatat,
#else /* 32 bits */
        SYS_fstat64, SYS_fstatat64, SYS_statx,
#endif
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

enum { BLOCKS = 2000, DEEPEST = 40 };

static void *volatile kept[2 * BLOCKS];

/* Stacks of many shapes, so that the tracer has to walk. */
static void *allocate_at_depth(unsigned depth, size_t size)
{
	volatile char frame[16 * (depth % 7 + 1)];
	void *block;

	frame[0] = 1;
	block = depth > 0 ? allocate_at_depth(depth - 1, size) : malloc(size);
	return frame[0] ? block : NULL;
}

/* Keeps one block of each two. */
static void *allocate(void *first)
{
	void *volatile *const blocks = first;

	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = allocate_at_depth(i % DEEPEST, i % 100 == 0 ? 1 << 20 : 100);
		if (!blocks[i])
			_exit(3);
	}
	for (unsigned i = 0; i < BLOCKS; i += 2)
		free(blocks[i]);
	return NULL;
}

static struct sock_filter filter[3 + 2 * (COUNT(least) + COUNT(of_dumps))];
static unsigned short filled;

static void add(struct sock_filter step)
{
	filter[filled++] = step;
}

static void allow(const long *calls, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0,
		                                 1));
		add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	}
}

/* How the filter is installed. */
static const char *installs_by = "";

static int install(const struct sock_fprog *program)
{
	if (strcmp(installs_by, "syscall") == 0)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
	if (strcmp(installs_by, "listener") == 0)
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		                    SECCOMP_FILTER_FLAG_NEW_LISTENER, program) > 0
		               ? 0
		               : -1;
	if (strcmp(installs_by, "prctl") == 0)
		return (int)syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
}

static int enter(const long *calls, size_t count, const long *more, size_t more_count)
{
	struct sock_fprog program = {.filter = filter};

	filled = 0;
	add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                                 offsetof(struct seccomp_data, nr)));
	allow(calls, count);
	allow(more, more_count);
	add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
	program.len = filled;
	return install(&program);
}

#ifdef WITH_LIBRARY
static int load(void)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int error = context ? 0 : -1;

	for (size_t i = 0; i < COUNT(least); i++)
		error |= seccomp_rule_add(context, SCMP_ACT_ALLOW, (int)least[i], 0);
	for (size_t i = 0; i < COUNT(of_dumps); i++)
		error |= seccomp_rule_add(context, SCMP_ACT_ALLOW, (int)of_dumps[i], 0);
	if (error == 0)
		error = seccomp_load(context);
	seccomp_release(context);
	return error;
}
#else
static int load(void)
{
	return -1;
}
#endif

/* The last step does not return, so the kernel refuses the filter, which would forbid all.  So it
 * does with a filter that jumps back for ever. */
static int enter_in_vain(void)
{
	struct sock_filter steps[] = {
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	};
	struct sock_filter endless[] = {
	        BPF_JUMP(BPF_JMP | BPF_JA, UINT32_MAX, 0, 0),
	        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {2, steps}, circle = {2, endless}, nothing = {0, NULL};

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &nothing) == 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &circle) == 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &nothing) == 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &circle) == 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, ~0ul, &program) == 0)
		return 0;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : -1;
}

static void enter_in_vfork(void)
{
	static const long execs[] = {SYS_exit_group};
	const pid_t child = vfork();
	int status;

	if (child == 0) {
		/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): the subject */
		enter(execs, 1, NULL, 0);
		syscall(SYS_exit_group, 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		_exit(4);
}

static void enter_strictly(void)
{
	const pid_t child = fork();
	int status;

	if (child == 0) {
		kept[0] = malloc(1000);
		free(kept[0]);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
			_exit(5);
		for (unsigned i = 0; i < 10; i++)
			free(allocate_at_depth(i, 100));
		syscall(SYS_exit, 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		_exit(6);
}

static void end(int signo)
{
	(void)signo;
	_exit(9);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "least";
	const int asks = strcmp(how, "least") != 0;
	const pid_t self = getpid();
	pthread_t thread;
	int error = 0;

	kept[0] = malloc(1000);
	free(kept[0]);
	if (argc > 2 && strcmp(argv[2], "catch") == 0)
		signal(SIGUSR1, end);
	installs_by = how;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return 77;
	if (strcmp(how, "load") == 0)
		error = load();
	else if (strcmp(how, "refused") == 0)
		error = enter_in_vain() == 0;
	else if (strcmp(how, "vfork") == 0)
		enter_in_vfork();
	else if (strcmp(how, "strict") == 0)
		enter_strictly();
	else
		error = enter(least, COUNT(least), of_dumps, asks ? COUNT(of_dumps) : 0);
	if (error != 0)
		return 77;
	allocate((void *)kept);
	if (pthread_create(&thread, NULL, allocate, (void *)(kept + BLOCKS)) != 0)
		return 2;
	pthread_join(thread, NULL);
	if (argc > 2)
		for (;;)
			pause();
	if (asks)
		kill(self, SIGUSR1);
	return 0;
}
