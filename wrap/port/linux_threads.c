/* linux_threads.c - the Linux port: other threads of the process, and copies of the process. */
#include "wrap/port/linux.h"
#include "wrap/port/linux_action.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Linux, uapi/linux/wait.h.  Not in the headers of every C library. */
#ifndef __WCLONE
#define __WCLONE 0x80000000
#endif

/* -- folders ----------------------------------------------------------------------------------- */

/* The kernel's struct linux_dirent64 (getdents64(2)). */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* Sets *NUMBER to the number that NAME is.  Returns false if NAME is none. */
static bool read_number(const char *name, int *number)
{
	if (*name < '0' || *name > '9')
		return false;
	for (*number = 0; *name >= '0' && *name <= '9'; name++)
		*number = *number * 10 + (*name - '0');
	return true;
}

bool leakwrap_folder_each_number(const char *path, leakwrap_number_visitor *visit, void *context)
{
	const int fd = (int)leakwrap_open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY, 0);
	_Alignas(struct entry) char bytes[512];
	bool goes_on = true;
	long length = 0;

	if (fd < 0)
		return false;
	while (goes_on && (length = leakwrap_syscall(__NR_getdents64, fd, (long)bytes,
	                                             sizeof(bytes), 0, 0, 0)) > 0)
		for (long at = 0; at < length && goes_on;) {
			const struct entry *const entry = (const void *)&bytes[at];
			int number;

			if (read_number(entry->name, &number))
				goes_on = visit(context, number, fd);
			at += entry->length;
		}
	leakwrap_close(fd);
	return length >= 0;
}

/* -- other threads ----------------------------------------------------------------------------- */

/* glibc, sys/single_threaded.h. */
extern __attribute__((weak)) char __libc_single_threaded;

bool leakwrap_process_has_one_thread(void)
{
	return &__libc_single_threaded && __libc_single_threaded != 0;
}

void leakwrap_read_of_thread(int thread, const char *name, char *text, size_t size)
{
	char path[48] = "/proc/self/task/";
	long length = 0;
	int fd;

	leakwrap_append_number(path, (unsigned)thread);
	strcat(path, "/");
	strcat(path, name);
	fd = (int)leakwrap_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd >= 0) {
		length = leakwrap_read(fd, text, size - 1);
		leakwrap_close(fd);
	}
	text[length > 0 ? length : 0] = '\0';
}

/* Reads /proc/self/task/THREAD/stat into LINE, which has room for SIZE bytes, as far as it fits.
 * Returns the third field, which is a letter, or NULL. */
static const char *read_stat(int thread, char *line, size_t size)
{
	const char *after_name;

	leakwrap_read_of_thread(thread, "stat", line, size);
	after_name = strrchr(line, ')');
	return after_name && after_name[1] == ' ' ? after_name + 2 : NULL;
}

char leakwrap_thread_kernel_state(int thread)
{
	char line[128];
	const char *const state = read_stat(thread, line, sizeof(line));

	return state ? *state : '\0';
}

/* Linux, include/linux/sched.h: since 5.12 and since 6.4.  Older kernels have other meanings for
 * these bits.  A thread of the program that has one of them rarely blocks all signals. */
#define PF_IO_WORKER   0x10u
#define PF_USER_WORKER 0x4000u

/* Of the first 31 signals all but SIGKILL and SIGSTOP. */
#define ALL_BLOCKED (0x7fffffffu & ~(1u << (SIGKILL - 1)) & ~(1u << (SIGSTOP - 1)))

/* Returns the number of the FIELD of /proc/PID/stat, counted as in proc(5), or 0.  STATE: its third
 * field. */
static uint64_t number_of_field(const char *state, unsigned field)
{
	uint64_t number = 0;

	for (unsigned i = 3; i < field && state; i++) {
		state = strchr(state, ' ');
		state += state != NULL;
	}
	for (; state && *state >= '0' && *state <= '9'; state++)
		number = number * 10 + (uint64_t)(*state - '0');
	return number;
}

bool leakwrap_thread_is_of_kernel(int thread)
{
	char line[512];
	const char *const state = read_stat(thread, line, sizeof(line));

	return (number_of_field(state, 9) & (PF_IO_WORKER | PF_USER_WORKER)) != 0 &&
	       number_of_field(state, 32) == ALL_BLOCKED;
}

/* glibc and uClibc-ng change user and group ids of all threads by signal 33 (SIGSETXID,
 * sysdeps/unix/sysv/linux/internal-signals.h).  The handler is installed with the first thread.
 * musl calls a function in all threads by signal 34 (SIGSYNCCALL, src/internal/pthread_impl.h), and
 * sets the handler each time.  None lets a program block or catch its signal. */
#ifdef __GLIBC__
#define PARK_SIGNAL 33
#else
#define PARK_SIGNAL 34
#endif

int leakwrap_park_signal(void)
{
	return PARK_SIGNAL;
}

/* The action before the tracer's, written while the park signal is not caught. */
static struct leakwrap_action before;

/* The handler of the last leakwrap_park_signal_catch, or NULL before the first. */
static leakwrap_signal_handler *_Atomic last_handler;

static _Atomic bool leaves_alternate_stacks;

bool leakwrap_park_signal_catch(leakwrap_signal_handler *handler)
{
	struct leakwrap_action action = leakwrap_action_of(
	        handler, LEAKWRAP_SA_ONSTACK | LEAKWRAP_SA_RESTART, ~(uint64_t)0);
	struct leakwrap_action old;

	if (!handler)
		return leakwrap_action_set(PARK_SIGNAL, &before, NULL);
	if (!leakwrap_action_set(PARK_SIGNAL, NULL, &old))
		return false;
	if (old.handler != handler)
		before = old;
	atomic_store(&last_handler, handler);
	if (!atomic_load(&leaves_alternate_stacks) &&
	    !leakwrap_action_set(PARK_SIGNAL, &action, NULL))
		return false;
	action.flags &= ~LEAKWRAP_SA_ONSTACK;
	return !atomic_load(&leaves_alternate_stacks) ||
	       leakwrap_action_set(PARK_SIGNAL, &action, NULL);
}

/* Another thread may be about to catch the signal, or to restore the action before.  It looks at
 * the variable after it has set the action.  A handler that is left in place passes signals on. */
void leakwrap_park_signal_leave_alternate_stacks(void)
{
	struct leakwrap_action action;

	atomic_store(&leaves_alternate_stacks, true);
	if (!leakwrap_action_set(PARK_SIGNAL, NULL, &action) ||
	    action.handler != atomic_load(&last_handler))
		return;
	action.flags &= ~LEAKWRAP_SA_ONSTACK;
	leakwrap_action_set(PARK_SIGNAL, &action, NULL);
}

void leakwrap_park_signal_pass_on(int signo, void *info, void *context)
{
	if ((uintptr_t)before.handler != (uintptr_t)SIG_DFL &&
	    (uintptr_t)before.handler != (uintptr_t)SIG_IGN)
		before.handler(signo, info, context);
}

long leakwrap_park_signal_send(int thread, int value)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = PARK_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_pid = leakwrap_process_id();
	info.si_value.sival_int = value;
	return leakwrap_syscall(__NR_rt_tgsigqueueinfo, info.si_pid, thread, PARK_SIGNAL,
	                        (long)&info, 0, 0);
}

bool leakwrap_park_signal_is(const void *info, int value)
{
	const siginfo_t *const sent = info;

	return sent->si_code == SI_QUEUE && sent->si_value.sival_int == value;
}

void leakwrap_park_signal_allow(bool is_allowed)
{
	const struct leakwrap_mask mask = {.bits = {(uint64_t)1 << (PARK_SIGNAL - 1), 0}};

	leakwrap_syscall(__NR_rt_sigprocmask, is_allowed ? SIG_UNBLOCK : SIG_BLOCK, (long)&mask, 0,
	                 KERNEL_SIGSET_SIZE, 0, 0);
}

/* -- copies of the process --------------------------------------------------------------------- */

/* Returns whether a child of this thread would be in another PID namespace than the thread, which
 * has called unshare(2) or setns(2).  When the first process of a namespace ends, the namespace
 * takes no other (pid_namespaces(7)), and the program can never fork.  Links name the namespaces
 * since Linux 4.12 (proc(5)).  As long as there is no first process, the link cannot be read. */
static bool has_namespace_for_children(void)
{
	static const char path[] = "/proc/thread-self/ns/pid_for_children";
	char own[64], of_children[64];
	const long link = leakwrap_open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	long length;

	if (link < 0)
		return false;
	leakwrap_close((int)link);
	length = leakwrap_read_link("/proc/thread-self/ns/pid", own, sizeof(own));
	return leakwrap_read_link(path, of_children, sizeof(of_children)) != length ||
	       (length > 0 && memcmp(own, of_children, (size_t)length) != 0);
}

/* Returns whether FD is a descriptor of userfaultfd(2). */
static bool is_userfaultfd(int fd)
{
	static const char name[] = "anon_inode:[userfaultfd]";
	char path[48] = "/proc/self/fd/", link[sizeof(name)];

	leakwrap_append_number(path, (unsigned)fd);
	return leakwrap_read_link(path, link, sizeof(link)) == (long)sizeof(name) - 1 &&
	       memcmp(link, name, sizeof(name) - 1) == 0;
}

/* Linux, uapi/linux/userfaultfd.h, which not every C library's compiler finds. */
#define UFFD_FEATURE_EVENT_FORK      (1u << 1)
#define UFFD_FEATURE_MINOR_HUGETLBFS (1u << 9)
#define UFFD_FEATURE_MINOR_SHMEM     (1u << 10)

/* Returns the features (UFFD_FEATURE_*) of FD, a descriptor of userfaultfd(2).  Its file in fdinfo
 * says "API: VERSION:FEATURES:...", in hexadecimal. */
static unsigned features_of(int fd)
{
	char path[48] = "/proc/self/fdinfo/", text[256];
	const char *at;
	unsigned features = 0;
	long length = 0;
	int file;

	leakwrap_append_number(path, (unsigned)fd);
	file = (int)leakwrap_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (file >= 0) {
		length = leakwrap_read(file, text, sizeof(text) - 1);
		leakwrap_close(file);
	}
	text[length > 0 ? length : 0] = '\0';
	if (!(at = strstr(text, "API:")) || !(at = strchr(at + 4, ':')))
		return 0;
	while ((*++at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'))
		features = features << 4 | (unsigned)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	return features;
}

/* What the descriptors of userfaultfd(2) are used for. */
struct userfaultfds {
	bool are_there;
	unsigned features; /* of all of them */
};

static bool note_use(void *context, int fd, int folder)
{
	struct userfaultfds *const found = context;

	(void)folder;
	if (is_userfaultfd(fd)) {
		found->are_there = true;
		found->features |= features_of(fd);
	}
	return true;
}

enum leakwrap_userfaultfd leakwrap_find_userfaultfd(void)
{
	const unsigned minor = UFFD_FEATURE_MINOR_HUGETLBFS | UFFD_FEATURE_MINOR_SHMEM;
	struct userfaultfds found = {.are_there = false};

	leakwrap_folder_each_number("/proc/self/fd", note_use, &found);
	if (!found.are_there)
		return LEAKWRAP_USERFAULTFD_NONE;
	if ((found.features & UFFD_FEATURE_EVENT_FORK) == 0)
		return LEAKWRAP_USERFAULTFD_FAULTS;
	return (found.features & minor) == 0 ? LEAKWRAP_USERFAULTFD_FORKS
	                                     : LEAKWRAP_USERFAULTFD_FORKS_AND_MINOR;
}

/* clone(2) without flags and without a signal at the end, on this stack.  The order of the other
 * arguments differs between architectures, and all are 0. */
int leakwrap_process_copy(void)
{
	return has_namespace_for_children() ? -EPERM
	                                    : (int)leakwrap_syscall(__NR_clone, 0, 0, 0, 0, 0, 0);
}

void leakwrap_process_end(int status)
{
	for (;;)
		leakwrap_syscall(__NR_exit_group, status, 0, 0, 0, 0, 0);
}

/* prlimit(2) has 64-bit limits on all architectures.  A process may always become a better victim
 * of the kernel (proc(5), /proc/PID/oom_score_adj). */
void leakwrap_process_be_expendable(void)
{
	const uint64_t none[2] = {0, 0};
	const int fd = (int)leakwrap_open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0);

	leakwrap_syscall(__NR_prlimit64, 0, RLIMIT_CORE, (long)none, 0, 0, 0);
	if (fd < 0)
		return;
	leakwrap_write(fd, "1000", 4);
	leakwrap_close(fd);
}

/* How long the first sleep between two questions takes, and the longest sleep. */
#define SLEEP_FIRST 200000u
#define SLEEP_MAX   5000000u

bool leakwrap_process_await(int pid, uint64_t nanoseconds, int *status)
{
	const uint64_t deadline = leakwrap_time_monotonic() + nanoseconds;
	_Atomic uint32_t nobody = 0;
	bool is_in_time = true;
	long waited;

	for (uint64_t sleep = SLEEP_FIRST;; sleep = sleep < SLEEP_MAX ? 2 * sleep : SLEEP_MAX) {
		/* A killed copy ends for certain. */
		waited = leakwrap_syscall(__NR_wait4, pid, (long)status,
		                          (int)(__WCLONE | (is_in_time ? WNOHANG : 0)), 0, 0, 0);
		if (waited != 0 && waited != -EINTR)
			break;
		if (waited == 0 && leakwrap_time_monotonic() > deadline) {
			leakwrap_syscall(__NR_kill, pid, SIGKILL, 0, 0, 0, 0);
			is_in_time = false;
		}
		if (waited == 0 && is_in_time)
			leakwrap_wait(&nobody, 0, sleep);
	}
	return is_in_time && waited == pid;
}
