/* linux_process.c - the Linux port: the ids of the process and of its threads, what the kernel
 * shows of the process, and how it was started. */
#include "wrap/port/linux.h"

#include "wrap/port/linux_filter.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/utsname.h>
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

/* -- ids --------------------------------------------------------------------------------------- */

/* Not getpid(): some C libraries cached its result across vfork and clone.  Where a filter forbids
 * the call, the process is the one that installed the filter. */
int leakwrap_process_id(void)
{
	const long id = leakwrap_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);

	return id < 0 ? leakwrap_filters_process() : (int)id;
}

int leakwrap_process_parent_id(void)
{
	const long id = leakwrap_syscall(__NR_getppid, 0, 0, 0, 0, 0, 0);

	return id < 0 ? 0 : (int)id;
}

bool leakwrap_process_has_lost_parent(int parent)
{
	const long id = leakwrap_syscall(__NR_getppid, 0, 0, 0, 0, 0, 0);

	return id >= 0 && id != parent;
}

uint32_t leakwrap_user_id(void)
{
#ifdef __NR_geteuid32
	return (uint32_t)leakwrap_syscall(__NR_geteuid32, 0, 0, 0, 0, 0, 0);
#else
	return (uint32_t)leakwrap_syscall(__NR_geteuid, 0, 0, 0, 0, 0, 0);
#endif
}

/* The highest id that a thread can have (Linux, include/linux/threads.h, PID_MAX_LIMIT).  Threads
 * whose id a filter keeps from them get higher ones. */
#define HIGHEST_ID (4 << 20)

static _Thread_local int known_id; /* the calling thread's id, or 0 */

static int made_up_id(void)
{
	static _Atomic int last = HIGHEST_ID;

	return atomic_fetch_add(&last, 1) + 1;
}

int leakwrap_thread_id(void)
{
	const long id = leakwrap_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);

	if (id > 0)
		return (int)id;
	if (known_id == 0)
		known_id = made_up_id();
	return known_id;
}

int leakwrap_thread_known_id(void)
{
	if (known_id == 0)
		known_id = leakwrap_thread_id();
	return known_id;
}

void leakwrap_thread_reset_in_child(void)
{
	known_id = 0;
	if (leakwrap_thread_known_id() <= HIGHEST_ID)
		leakwrap_filters_reset_in_child(known_id);
}

bool leakwrap_thread_has_ended(int process, int thread)
{
	return thread <= HIGHEST_ID &&
	       leakwrap_syscall(__NR_tgkill, process, thread, 0, 0, 0, 0) == -ESRCH;
}

bool leakwrap_signal_send(int signo)
{
	const int process = leakwrap_process_id();

	return leakwrap_syscall(__NR_tgkill, process, leakwrap_thread_id(), signo, 0, 0, 0) == 0 ||
	       leakwrap_syscall(__NR_kill, process, signo, 0, 0, 0, 0) == 0;
}

/* -- what the kernel shows --------------------------------------------------------------------- */

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

/* LEAKWRAP_HASH_FACTOR_32 of wrap/base/hash.h, a layer above this. */
#define NAME_FACTOR 0x9e3779b1u

/* Returns a hash of the name in TEXT, the content of /proc/PID/stat. */
static uint32_t name_in_stat(const char *text)
{
	const char *const end = strrchr(text, ')');
	uint32_t hash = 0;

	for (const char *at = strchr(text, '('); at && at < end; at++)
		hash = (hash ^ (unsigned char)*at) * NAME_FACTOR;
	return hash;
}

/* Opens /proc/PID/stat.  Returns a descriptor or a negative number. */
static int open_stat(int pid)
{
	char path[64] = "/proc/";

	leakwrap_append_number(path, (unsigned)pid);
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
	facts->name = name_in_stat(text);
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

/* -- how it was started ------------------------------------------------------------------------ */

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
