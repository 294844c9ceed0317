/* linux.c - the Linux port: system calls, signals, time, the process, files.  linux_memory.c and
 * linux_lock.c hold the rest. */
#define _FILE_OFFSET_BITS 64 /* 64-bit file sizes, also on 32-bit systems */
#include "wrap/port/linux.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifndef LEAKWRAP_NO_getauxval
#include <sys/auxv.h>
#endif

/* Constants that old headers lack (Linux, uapi/linux/auxvec.h). */
#ifndef AT_SECURE
#define AT_SECURE 23
#endif
#ifndef AT_EXECFN
#define AT_EXECFN 31
#endif

#ifndef CLOCK_BOOTTIME
#define CLOCK_BOOTTIME 7
#endif

/* The kernel's SIG_SETMASK.  <signal.h> is not included: its sigset_t is not the kernel's. */
#ifdef __mips__
#define SIG_SETMASK_KERNEL 3
#else
#define SIG_SETMASK_KERNEL 2
#endif

/* FUTEX_WAIT and FUTEX_WAKE with FUTEX_PRIVATE_FLAG (futex(2)): for memory that other processes do
 * not share.  musl has no header for them. */
#define WAIT_PRIVATE (0 | 128)
#define WAKE_PRIVATE (1 | 128)
#define WAIT_SHARED  0

/* Likewise FUTEX_LOCK_PI and FUTEX_UNLOCK_PI: the word holds the id of the thread that has it. */
#define LOCK_PI_PRIVATE   (6 | 128)
#define UNLOCK_PI_PRIVATE (7 | 128)

/* The kernel's struct timespec in the system calls below: two longs.  32-bit systems that are newer
 * than these calls have only the calls with 64-bit time. */
#ifdef __NR_futex
struct kernel_time {
	long seconds, nanoseconds;
};
#ifdef __NR_clock_gettime32 /* musl's name on 32-bit systems */
#define CLOCK_GETTIME __NR_clock_gettime32
#else
#define CLOCK_GETTIME __NR_clock_gettime
#endif
#define FUTEX           __NR_futex
#define PPOLL           __NR_ppoll
#define PSELECT         __NR_pselect6
#define RT_SIGTIMEDWAIT __NR_rt_sigtimedwait
#else
struct kernel_time {
	int64_t seconds, nanoseconds;
};
#define CLOCK_GETTIME   __NR_clock_gettime64
#define FUTEX           __NR_futex_time64
#define PPOLL           __NR_ppoll_time64
#define PSELECT         __NR_pselect6_time64
#define RT_SIGTIMEDWAIT __NR_rt_sigtimedwait_time64
#endif

/* syscall(2).  Declared here, because dietlibc declares it with the result int: an address would
 * lose its upper half. */
extern long system_call(long number, ...) __asm__("syscall");

long leakwrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long result = system_call(number, a, b, c, d, e, f);

	if (result == -1)
		result = -errno;
	errno = saved;
	return result;
}

/* -- signals ----------------------------------------------------------------------------------- */

void leakwrap_signals_block(struct leakwrap_mask *before)
{
	const struct leakwrap_mask all = {{~(uint64_t)0, ~(uint64_t)0}};

	/* What the kernel does not fill must not be an old word of the stack.  The mask may be kept
	 * in a lock, and the word may lead to a block that is lost. */
	before->bits[1] = 0;
	leakwrap_syscall(__NR_rt_sigprocmask, SIG_SETMASK_KERNEL, (long)&all, (long)before,
	                 KERNEL_SIGSET_SIZE, 0, 0);
}

void leakwrap_signals_restore(const struct leakwrap_mask *before)
{
	leakwrap_syscall(__NR_rt_sigprocmask, SIG_SETMASK_KERNEL, (long)before, 0,
	                 KERNEL_SIGSET_SIZE, 0, 0);
}

bool leakwrap_signal_pending(int signo)
{
	struct leakwrap_mask waiting = {{0, 0}};

	leakwrap_syscall(__NR_rt_sigpending, (long)&waiting, KERNEL_SIGSET_SIZE, 0, 0, 0, 0);
	return (waiting.bits[0] >> (signo - 1) & 1) != 0;
}

/* A timeout of zero does not wait (sigtimedwait(2)): the call takes the signal only if it is
 * pending. */
void leakwrap_signal_discard(int signo)
{
	struct leakwrap_mask mask = {{(uint64_t)1 << (signo - 1), 0}};
	const struct kernel_time no_time = {0, 0};

	leakwrap_syscall(RT_SIGTIMEDWAIT, (long)&mask, 0, (long)&no_time, KERNEL_SIGSET_SIZE, 0, 0);
}

void leakwrap_signal_send(int signo)
{
	leakwrap_syscall(__NR_tgkill, leakwrap_process_id(), leakwrap_thread_id(), signo, 0, 0, 0);
}

/* -- time and process -------------------------------------------------------------------------- */

/* Reads CLOCK with a system call.  A program that simulates time has its own clock_gettime(), which
 * may lock or stand still. */
static struct kernel_time read_clock(clockid_t clock)
{
	struct kernel_time now = {0, 0};

	leakwrap_syscall(CLOCK_GETTIME, clock, (long)&now, 0, 0, 0, 0);
	return now;
}

uint64_t leakwrap_time_monotonic(void)
{
	const struct kernel_time now = read_clock(CLOCK_MONOTONIC);

	return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}

int64_t leakwrap_time_utc(void)
{
	return read_clock(CLOCK_REALTIME).seconds;
}

uint64_t leakwrap_time_boot(void)
{
	const struct kernel_time now = read_clock(CLOCK_BOOTTIME);

	return (uint64_t)now.seconds * 100 + (uint64_t)now.nanoseconds / 10000000;
}

/* Not getpid(): some C libraries cached its result across vfork and clone. */
int leakwrap_process_id(void)
{
	return (int)leakwrap_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

int leakwrap_process_parent_id(void)
{
	return (int)leakwrap_syscall(__NR_getppid, 0, 0, 0, 0, 0, 0);
}

int leakwrap_thread_id(void)
{
	return (int)leakwrap_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);
}

bool leakwrap_thread_has_ended(int process, int thread)
{
	return leakwrap_syscall(__NR_tgkill, process, thread, 0, 0, 0, 0) == -ESRCH;
}

/* Fields of /proc/PID/stat (proc(5)).  STAT_MAX: longest text up to the last of them.  That is a
 * name of 64 bytes, and 20 digits for each other field. */
enum {
	STAT_STARTED = 22,
	STAT_CODE_START = 26,
	STAT_CODE_END,
	STAT_STACK,
	STAT_MAX = 80 + 28 * 21
};

/* Returns the field NUMBER of TEXT, the content of /proc/PID/stat; 0 if there is no such field.
 * The second field is a name in parentheses, and may hold spaces. */
static uint64_t field_of_stat(const char *text, unsigned number)
{
	const char *at = strrchr(text, ')');
	uint64_t value = 0;

	for (unsigned field = 2; at && field < number; field++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	for (; at && *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

/* Opens /proc/PID/stat.  Returns a descriptor or a negative number. */
static int open_stat(int pid)
{
	char path[64] = "/proc/", digits[12];
	unsigned at = sizeof(digits) - 1;

	digits[at] = '\0';
	for (; pid > 0; pid /= 10)
		digits[--at] = (char)('0' + pid % 10);
	strcat(path, &digits[at]);
	strcat(path, "/stat");
	return (int)leakwrap_open(path, O_RDONLY | O_CLOEXEC, 0);
}

bool leakwrap_process_facts(int pid, struct leakwrap_process_facts *facts)
{
	const int fd = open_stat(pid);
	char text[STAT_MAX];
	long length;

	if (fd < 0)
		return false;
	length = leakwrap_read(fd, text, sizeof(text) - 1);
	leakwrap_close(fd);
	if (length <= 0)
		return false;
	text[length] = '\0';
	facts->started = field_of_stat(text, STAT_STARTED);
	facts->code_start = (uintptr_t)field_of_stat(text, STAT_CODE_START);
	facts->code_end = (uintptr_t)field_of_stat(text, STAT_CODE_END);
	facts->stack = (uintptr_t)field_of_stat(text, STAT_STACK);
	return true;
}

/* qemu makes up /proc/self/stat, with zeros for all that it does not know.  The kernel shows a
 * process where its own code is. */
bool leakwrap_process_is_emulated(void)
{
	struct leakwrap_process_facts facts;

	return leakwrap_process_facts(leakwrap_process_id(), &facts) && facts.code_start == 0;
}

/* Reads the auxiliary vector (getauxval(3)).  In /proc/self/auxv each entry has two words. */
uintptr_t leakwrap_auxiliary(unsigned type)
{
#ifndef LEAKWRAP_NO_getauxval
	int saved = errno;
	uintptr_t value = (uintptr_t)getauxval(type);

	errno = saved;
	return value;
#else
	uintptr_t pair[2], value = 0;
	int fd = (int)leakwrap_proc_open("auxv");

	while (fd >= 0 && leakwrap_read(fd, pair, sizeof(pair)) == (long)sizeof(pair) &&
	       pair[0] != AT_NULL)
		if (pair[0] == type)
			value = pair[1];
	if (fd >= 0)
		leakwrap_close(fd);
	return value;
#endif
}

#ifndef LEAKWRAP_NO___libc_stack_end
extern void *__libc_stack_end; /* glibc's: the stack pointer at process start */
#endif

/* NOLINTNEXTLINE(readability-redundant-declaration) */
extern char **environ; /* not in the <unistd.h> of every C library */

/* Returns the arguments that the kernel left on the stack, and sets *COUNT to their number.
 * Returns NULL if they are not known.  In a dynamic program a function in .preinit_array runs
 * before glibc's start.  The C library does not know the arguments then.  The stack holds argc, and
 * above it argv's pointers, NULL, the environment's pointers, NULL.  See the System V ABI, AMD64
 * supplement, figure 3.9.  All other architectures do it alike. */
static char *const *arguments_on_stack(long *count)
{
#ifndef LEAKWRAP_NO___libc_stack_end
	const long *argc = __libc_stack_end;

	/* In a static program __libc_stack_end is near argc, but not equal to its address.  So
	 * check what it points to. */
	if (argc && *argc >= 0 && *argc < INT_MAX) {
		char *const *const argv = (char *const *)(argc + 1);
		const uintptr_t behind = (uintptr_t)argv + ((uintptr_t)*argc + 1) * sizeof(*argv);

		if (environ ? behind == (uintptr_t)environ : !argv[*argc]) {
			*count = *argc;
			return argv;
		}
	}
#endif
	*count = 0;
	return NULL;
}

static char *const *environment(void)
{
	long count;
	char *const *argv = environ ? NULL : arguments_on_stack(&count);

	return argv ? argv + count + 1 : environ;
}

const char *leakwrap_environment(const char *name)
{
	size_t length = strlen(name);

	for (char *const *entry = environment(); entry && *entry; entry++)
		if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}

const char *leakwrap_process_started_as(void)
{
	return (const char *)leakwrap_auxiliary(AT_EXECFN);
}

/* Reads /proc/self/cmdline (proc(5)). */
static size_t read_command_from_proc(char *command, size_t size)
{
	const int fd = (int)leakwrap_proc_open("cmdline");
	size_t used = 0;
	long got;

	while (fd >= 0 && used < size && (got = leakwrap_read(fd, command + used, size - used)) > 0)
		used += (size_t)got;
	if (fd >= 0)
		leakwrap_close(fd);
	return used;
}

size_t leakwrap_process_command(char *command, size_t size)
{
	long count;
	char *const *argv = arguments_on_stack(&count);
	size_t used = 0;

	if (!argv)
		return read_command_from_proc(command, size);
	for (long i = 0; i < count && argv[i] && used < size; i++) {
		const size_t length = strnlen(argv[i], size - used);

		memcpy(command + used, argv[i], length);
		used += length;
		if (used < size)
			command[used++] = '\0';
	}
	return used;
}

void leakwrap_process_name(char *name, size_t size)
{
#ifndef LEAKWRAP_NO_program_invocation_short_name
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* dietlibc deprecates it */
	const char *short_name = program_invocation_short_name;
#else
	const char *short_name = NULL;
#endif

	/* In a static program the first allocation comes before glibc has set the name. */
	if (!short_name || !*short_name) {
		const char *path = leakwrap_process_started_as();
		const char *slash = path ? strrchr(path, '/') : NULL;

		short_name = slash ? slash + 1 : path ? path : "";
	}
	size_t length = strnlen(short_name, size - 1);

	memcpy(name, short_name, length);
	name[length] = '\0';
}

void leakwrap_host_name(char *name, size_t size)
{
	struct utsname names;
	size_t length = 0;

	if (leakwrap_syscall(__NR_uname, (long)&names, 0, 0, 0, 0, 0) == 0)
		for (; length < size - 1 && names.nodename[length] != '\0'; length++)
			name[length] = names.nodename[length] == '/' ? '_' : names.nodename[length];
	name[length] = '\0';
}

bool leakwrap_process_is_privileged(void)
{
	return leakwrap_auxiliary(AT_SECURE) != 0;
}

static struct kernel_time kernel_time(uint64_t nanoseconds)
{
	struct kernel_time time = {0, 0};

	time.seconds = (long)(nanoseconds / 1000000000u);
	time.nanoseconds = (long)(nanoseconds % 1000000000u);
	return time;
}

void leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	const struct kernel_time limit = kernel_time(nanoseconds);

	leakwrap_syscall(FUTEX, (long)word, WAIT_PRIVATE, (long)value, (long)&limit, 0, 0);
}

void leakwrap_wait_shared(const uint32_t *word, uint32_t value, uint64_t nanoseconds)
{
	const struct kernel_time limit = kernel_time(nanoseconds);

	leakwrap_syscall(FUTEX, (long)word, WAIT_SHARED, (long)value, (long)&limit, 0, 0);
}

void leakwrap_wake(_Atomic uint32_t *word)
{
	leakwrap_syscall(FUTEX, (long)word, WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

void leakwrap_wake_one(_Atomic uint32_t *word)
{
	leakwrap_syscall(FUTEX, (long)word, WAKE_PRIVATE, 1, 0, 0, 0);
}

/* The limit is a point of time of CLOCK_REALTIME. */
bool leakwrap_wait_with_priority(_Atomic uint32_t *word, uint64_t nanoseconds)
{
	struct kernel_time limit = read_clock(CLOCK_REALTIME);

	nanoseconds += (uint64_t)limit.nanoseconds;
	limit.seconds += (long)(nanoseconds / 1000000000u);
	limit.nanoseconds = (long)(nanoseconds % 1000000000u);
	return leakwrap_syscall(FUTEX, (long)word, LOCK_PI_PRIVATE, 0, (long)&limit, 0, 0) == 0;
}

bool leakwrap_release_with_priority(_Atomic uint32_t *word)
{
	return leakwrap_syscall(FUTEX, (long)word, UNLOCK_PI_PRIVATE, 0, 0, 0, 0) == 0;
}

/* SCHED_DEADLINE and SCHED_RESET_ON_FORK: not in every <sched.h>. */
#define DEADLINE      6
#define RESET_ON_FORK 0x40000000

bool leakwrap_thread_is_realtime(void)
{
	const long policy = leakwrap_syscall(__NR_sched_getscheduler, 0, 0, 0, 0, 0, 0);
	const long plain = policy & ~(long)RESET_ON_FORK;

	return policy > 0 && (plain == SCHED_FIFO || plain == SCHED_RR || plain == DEADLINE);
}

/* -- files ------------------------------------------------------------------------------------- */

long leakwrap_open(const char *path, int flags, int mode)
{
#ifdef __NR_open /* older than openat */
	return leakwrap_syscall(__NR_open, (long)path, flags, mode, 0, 0, 0);
#else
	return leakwrap_syscall(__NR_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
#endif
}

long leakwrap_proc_open(const char *name)
{
	char path[64], program[8];

	/* An emulator of processes (qemu) knows /proc/self alone. */
	strcpy(path, leakwrap_read_link("/proc/self/exe", program, sizeof(program)) > 0
	                     ? "/proc/self/"
	                     : "/proc/thread-self/");
	strcat(path, name);
	return leakwrap_open(path, O_RDONLY | O_CLOEXEC, 0);
}

long leakwrap_close(int fd)
{
	return leakwrap_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
}

long leakwrap_rename(const char *from, const char *to)
{
#ifdef __NR_renameat
	return leakwrap_syscall(__NR_renameat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
#else
	return leakwrap_syscall(__NR_renameat2, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
#endif
}

long leakwrap_read_link(const char *path, char *target, size_t size)
{
	return leakwrap_syscall(__NR_readlinkat, AT_FDCWD, (long)path, (long)target, (long)size, 0,
	                        0);
}

/* The kernel's path of a folder that is not below the root folder begins with a word in parentheses
 * (getcwd(3), "C library/kernel differences"). */
bool leakwrap_current_folder(char *folder, size_t size)
{
	return leakwrap_syscall(__NR_getcwd, (long)folder, (long)size, 0, 0, 0, 0) > 0 &&
	       folder[0] == '/';
}

bool leakwrap_lock_file(int fd)
{
	return leakwrap_syscall(__NR_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0) == 0;
}

long leakwrap_read(int fd, void *buffer, size_t size)
{
	return leakwrap_syscall(__NR_read, fd, (long)buffer, (long)size, 0, 0, 0);
}

long leakwrap_write(int fd, const void *bytes, size_t size)
{
	return leakwrap_syscall(__NR_write, fd, (long)bytes, (long)size, 0, 0, 0);
}

long leakwrap_fcntl(int fd, int command, long argument)
{
#ifdef __NR_fcntl64
	return leakwrap_syscall(__NR_fcntl64, fd, command, argument, 0, 0, 0);
#else
	return leakwrap_syscall(__NR_fcntl, fd, command, argument, 0, 0, 0);
#endif
}

/* Waits until FD can be written to, with select(2), which takes a bit for each descriptor.  For a
 * sandbox that forbids a process to open descriptors: poll(2) refuses every descriptor there. */
static bool select_writable(int fd, uint64_t nanoseconds)
{
	struct kernel_time limit = kernel_time(nanoseconds);
	unsigned long waited[16] = {0};
	const unsigned bits = sizeof(waited[0]) * 8, at = (unsigned)fd;

	if (at >= sizeof(waited) * 8)
		return false;
	waited[at / bits] = 1ul << at % bits;
	return leakwrap_syscall(PSELECT, fd + 1, 0, (long)waited, 0, (long)&limit, 0) == 1;
}

bool leakwrap_wait_writable(int fd, uint64_t nanoseconds)
{
	struct pollfd waited = {.fd = fd, .events = POLLOUT};
	long ready;

#ifdef __NR_poll /* older than ppoll */
	ready = leakwrap_syscall(__NR_poll, (long)&waited, 1, (long)(nanoseconds / 1000000), 0, 0,
	                         0);
#else
	struct kernel_time limit = kernel_time(nanoseconds);

	ready = leakwrap_syscall(PPOLL, (long)&waited, 1, (long)&limit, 0, 0, 0);
#endif
	return ready == -EINVAL ? select_writable(fd, nanoseconds) : ready == 1;
}

bool leakwrap_file_describe(int fd, struct leakwrap_file *file)
{
	int saved = errno;
	struct stat status;
	bool is_open = fstat(fd, &status) == 0;

	if (is_open) {
		file->device = status.st_dev;
		file->inode = status.st_ino;
		file->is_terminal = isatty(fd) == 1;
		file->is_pipe = S_ISFIFO(status.st_mode);
		file->is_regular = S_ISREG(status.st_mode);
		file->is_append = (leakwrap_fcntl(fd, F_GETFL, 0) & O_APPEND) != 0;
	}
	errno = saved;
	return is_open;
}

uint64_t leakwrap_file_size(int fd)
{
	int saved = errno;
	struct stat status;
	uint64_t size = fstat(fd, &status) == 0 ? (uint64_t)status.st_size : 0;

	errno = saved;
	return size;
}
