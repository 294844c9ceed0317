/* target_process.c - see target_process.h.
 *
 * The process announces its dump signal and its log in its memory (report/announcement.h).  If this
 * user may not read the memory, they come from the environment of the process.  There the signal
 * must be named: the program may have another dump signal built in, and use SIGUSR1 for itself.
 *
 * A signal that the program does not catch would end it.  So the program must have the tracer
 * inside, and a handler installed.
 */
#include "tools/process/target_process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

#include "report/announcement.h"
#include "report/request.h"
#include "tools/base/files.h"
#include "tools/base/memory.h"
#include "tools/base/messages.h"
#include "tools/elf/headers.h"
#include "tools/elf/traced.h"
#include "tools/process/signal_name.h"

/* Reads the file PATH, whose size is not known before.  Returns as read_process_file. */
static char *read_file(struct arena *arena, const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	char *bytes = NULL;
	size_t room = 0;
	*size = 0;
	for (;;) {
		GROW(bytes, room, *size + 4096);
		ssize_t got = read(fd, bytes + *size, room - *size);
		if (got <= 0)
			break;
		*size += (size_t)got;
	}
	close(fd);
	char *copy = arena_alloc(arena, *size + 1);
	memcpy(copy, bytes, *size);
	free(bytes);
	return copy;
}

char *read_process_file(struct arena *arena, pid_t pid, const char *name, size_t *size)
{
	return read_file(arena, arena_format(arena, "/proc/%d/%s", pid, name), size);
}

/* Returns whether the thread or process with STATUS, the text of its file in /proc, has ended. */
static bool has_ended(const char *status)
{
	const char *state = strstr(status, "\nState:\t");
	return state && (state[8] == 'Z' || state[8] == 'X');
}

/* Returns a thread of process PID that has not ended: PID if the main thread is one.  Returns 0 if
 * there is none. */
static pid_t living_thread(struct arena *arena, pid_t pid)
{
	size_t size;
	const char *status = read_process_file(arena, pid, "status", &size);
	if (!status || !has_ended(status))
		return status ? pid : 0;
	pid_t found = 0;
	DIR *threads = opendir(arena_format(arena, "/proc/%d/task", pid));
	for (struct dirent *thread; threads && !found && (thread = readdir(threads)) != NULL;) {
		pid_t number = (pid_t)strtol(thread->d_name, NULL, 10);
		status = number > 0 ? read_process_file(arena, number, "status", &size) : NULL;
		if (status && !has_ended(status))
			found = number;
	}
	if (threads)
		closedir(threads);
	return found;
}

const char *process_path(struct arena *arena, pid_t pid, const char *name)
{
	return arena_format(arena, "/proc/%d/%s", living_thread(arena, pid), name);
}

const char *process_name(struct arena *arena, pid_t pid, bool from_command)
{
	static const char deleted[] = " (deleted)";
	char file[4096];
	size_t size;
	if (from_command) {
		const char *words = read_file(arena, process_path(arena, pid, "cmdline"), &size);
		return words ? base_name(words) : "";
	}
	ssize_t length = readlink(process_path(arena, pid, "exe"), file, sizeof file);
	if (length <= 0)
		return "";
	const char *name = base_name(arena_copy(arena, file, (size_t)length));
	/* The system says so of a file that is gone (proc(5)). */
	size_t own = strlen(name), behind = strlen(deleted);
	return own > behind && strcmp(name + own - behind, deleted) == 0
	               ? arena_copy(arena, name, own - behind)
	               : name;
}

/* -- options ----------------------------------------------------------------------------------- */

/* Returns the value of KEY in OPTIONS, which is read as the tracer reads it (wrap/base/options.c).
 * Returns FALLBACK if KEY is not there. */
static const char *option_value(struct arena *arena, const char *options, const char *key,
                                const char *fallback)
{
	size_t length = strlen(key);
	const char *value = fallback;
	for (const char *p = options; *p; p += *p == ':') {
		const char *name = p;
		p += strcspn(p, "=:");
		bool wanted =
		        *p == '=' && (size_t)(p - name) == length && memcmp(name, key, length) == 0;
		p += *p == '=';
		const char *from = p, *to = p + strcspn(p, ":");
		if (*p == '"' || *p == '\'') {
			from = p + 1;
			to = strchr(from, *p);
			p = to ? to + 1 : from;
			wanted = wanted && to && (*p == ':' || *p == '\0');
		}
		if (wanted)
			value = arena_copy(arena, from, (size_t)(to - from));
		p += strcspn(p, ":");
	}
	return value;
}

/* -- the process ------------------------------------------------------------------------------- */

/* A file that is mapped into the process and holds the tracer. */
struct traced_file {
	const char *path;      /* as /proc/PID/maps has it */
	uint64_t announcement; /* virtual address of the announcement in the file; 0: none */
	/* The first segment, both numbers rounded down to pages: */
	uint64_t vaddr;  /* its virtual address */
	uint64_t offset; /* where it begins in the file */
	pid_t thread;    /* of the process, that has not ended */
};

/* Reads FILE and fills in TRACED, but for its path.  Returns false if the tracer is not in FILE. */
static bool read_traced_file(const char *file, struct traced_file *traced)
{
	/* FILE may be a device: opening it must not wait. */
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool found = elf && elf_kind(elf) == ELF_K_ELF && elf_is_traced(elf);
	if (found && !elf_find_announcement(elf, &traced->announcement))
		traced->announcement = 0;
	uint64_t page = ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	GElf_Phdr segment;
	size_t at = 0;
	if (found && next_segment(elf, &at, PT_LOAD, &segment)) {
		traced->vaddr = segment.p_vaddr & page;
		traced->offset = segment.p_offset & page;
	}
	elf_end(elf);
	close(fd);
	return found;
}

/* Finds the file that holds the tracer: the program, or one of its libraries.  Returns false if
 * there is none. */
static bool find_traced_file(struct arena *arena, pid_t pid, struct traced_file *traced)
{
	char program[4096];
	size_t size;
	pid = traced->thread = living_thread(arena, pid);
	const char *exe = arena_format(arena, "/proc/%d/exe", pid);
	if (read_traced_file(exe, traced)) {
		ssize_t length = readlink(exe, program, sizeof program);
		traced->path = arena_copy(arena, program, length > 0 ? (size_t)length : 0);
		return true;
	}
	char *maps = read_process_file(arena, pid, "maps", &size), *save = NULL;
	for (char *line = maps ? strtok_r(maps, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		traced->path = strchr(line, '/');
		if (traced->path && strstr(line, " r-xp ") &&
		    read_traced_file(arena_format(arena, "/proc/%d/root%s", pid, traced->path),
		                     traced))
			return true;
	}
	return false;
}

bool process_is_traced(pid_t pid)
{
	struct arena arena = {0};
	struct traced_file traced;
	bool found = find_traced_file(&arena, pid, &traced);
	arena_free(&arena);
	return found;
}

/* Returns PATH as /proc/PID/maps has it: only a line feed looks otherwise there (proc(5)). */
static const char *path_in_maps(struct arena *arena, const char *path)
{
	const char *line_end = strchr(path, '\n');
	return line_end ? arena_format(arena, "%.*s\\012%s", (int)(line_end - path), path,
	                               path_in_maps(arena, line_end + 1))
	                : path;
}

/* Finds the address at which the process has mapped the first segment of TRACED.  Returns false
 * with errno set if its mappings cannot be read, or do not hold the segment: ESRCH. */
static bool find_mapping(struct arena *arena, const struct traced_file *traced, uint64_t *address)
{
	size_t size;
	char *maps = read_process_file(arena, traced->thread, "maps", &size), *save = NULL;
	if (!maps)
		return false;
	const char *wanted = path_in_maps(arena, traced->path);
	for (char *line = strtok_r(maps, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *path = strchr(line, '/');
		/* "55d0c8a00000-55d0c8a08000 r--p 00000000 fe:00 4711 /opt/app/server" */
		const char *flags = strchr(line, ' '),
		           *offset = flags ? strchr(flags + 1, ' ') : NULL;
		if (!path || !offset || strcmp(path, wanted) != 0 ||
		    strtoull(offset, NULL, 16) != traced->offset)
			continue;
		*address = strtoull(line, NULL, 16);
		return true;
	}
	errno = ESRCH;
	return false;
}

/* Reads SIZE bytes at ADDRESS of THREAD's memory into BYTES.  Returns false with errno set if they
 * cannot be read. */
static bool read_memory(struct arena *arena, pid_t thread, uint64_t address, void *bytes,
                        size_t size)
{
	struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size}; // NOLINT
	/* A tool of 32 bits cannot name each address of a process of 64 bits. */
	const bool can_name = (uintptr_t)address == address;
	if (can_name && process_vm_readv(thread, &here, 1, &there, 1, 0) == (ssize_t)size)
		return true;
	if (can_name && errno != ENOSYS)
		return false;
	int fd = open(arena_format(arena, "/proc/%d/mem", thread), O_RDONLY | O_CLOEXEC);
	bool read = fd >= 0 && pread(fd, bytes, size, (off_t)address) == (ssize_t)size;
	if (fd >= 0)
		close(fd);
	return read;
}

enum announcement {
	ANNOUNCED,
	NOT_ANNOUNCED, /* a message was printed */
	NOT_READABLE,  /* errno says why: EPERM or EACCES, or another one if it is not there */
};

/* Reads the announcement of PROCESS, whose tracer is in TRACED, and fills in signal and log. */
static enum announcement read_announcement(struct arena *arena, struct target_process *process,
                                           const struct traced_file *traced)
{
	struct leakwrap_announcement announced = {0};
	uint64_t segment; /* its address in the process */
	pid_t pid = process->pid;
	if (traced->announcement == 0) {
		complain("process %d has another version of the tracer: link its program again, or "
		         "ask by kill",
		         pid);
		return NOT_ANNOUNCED;
	}
	if (!find_mapping(arena, traced, &segment) ||
	    !read_memory(arena, traced->thread, segment - traced->vaddr + traced->announcement,
	                 &announced, sizeof announced))
		return NOT_READABLE;
	if (announced.version == 0 || (unsigned long)announced.process != process->inner_pid) {
		complain("process %d has not begun to trace: it starts, or it is about to execute "
		         "a program",
		         pid);
		return NOT_ANNOUNCED;
	}
	process->signal = announced.signal;
	process->log =
	        arena_copy(arena, announced.log, strnlen(announced.log, sizeof announced.log));
	process->announced = true;
	process->announces_recording =
	        announced.size >= offsetof(struct leakwrap_announcement, kinds);
	process->announces_kinds =
	        announced.size >= offsetof(struct leakwrap_announcement, needs_all);
	process->announces_needs_all = announced.size >= sizeof announced;
	process->record = announced.record != 0;
	process->sample = announced.sample;
	process->marks = announced.marks;
	process->kinds = announced.kinds;
	process->needs_all = process->announces_needs_all ? announced.needs_all : 0;
	return ANNOUNCED;
}

/* Returns true if signal NUMBER is in the set FIELD of STATUS, the text of /proc/PID/status. */
static bool is_in_signal_set(const char *status, const char *field, int number)
{
	const char *at = strstr(status, field);
	if (!at)
		return false;
	uint64_t set = strtoull(at + strlen(field), NULL, 16);
	return number > 0 && number <= 64 && (set >> (number - 1) & 1);
}

/* Returns true if every thread blocks signal NUMBER, so that no thread would run the handler.
 * STATUS is that of the first thread. */
static bool is_blocked_by_all_threads(struct arena *arena, pid_t pid, const char *status,
                                      int number)
{
	size_t size;
	if (!is_in_signal_set(status, "\nSigBlk:", number))
		return false;
	bool blocked = true;
	DIR *threads = opendir(arena_format(arena, "/proc/%d/task", pid));
	for (struct dirent *thread; threads && blocked && (thread = readdir(threads)) != NULL;) {
		const char *other =
		        thread->d_name[0] == '.'
		                ? NULL
		                : read_file(arena,
		                            arena_format(arena, "/proc/%d/task/%s/status", pid,
		                                         thread->d_name),
		                            &size);
		if (other)
			blocked = is_in_signal_set(other, "\nSigBlk:", number);
	}
	if (threads)
		closedir(threads);
	return blocked;
}

/* Returns true if the process is in a state in which it runs handlers, otherwise prints a
 * message. */
static bool is_running(struct arena *arena, pid_t pid, const char *status)
{
	const char *state = strstr(status, "\nState:\t");
	if (!living_thread(arena, pid)) {
		complain("process %d has ended", pid);
		return false;
	}
	if (state && (state[8] == 'T' || state[8] == 't')) {
		complain("process %d is stopped", pid);
		return false;
	}
	return true;
}

/* Fills in the options and the folder.  Returns false after a message. */
static bool read_environment(struct arena *arena, struct target_process *process)
{
	pid_t pid = process->pid;
	size_t size;
	char *environment = read_file(arena, process_path(arena, pid, "environ"), &size);
	if (!environment) {
		if (errno == ESRCH)
			complain("process %d has ended, or is the kernel's", pid);
		else
			complain("process %d: its environment cannot be read: %s", pid,
			         strerror(errno));
		return false;
	}
	process->options = process->started_in = "";
	for (const char *p = environment; p < environment + size; p += strlen(p) + 1) {
		if (strncmp(p, "LEAKWRAP_OPTIONS=", 17) == 0)
			process->options = p + 17;
		if (strncmp(p, "PWD=/", 5) == 0)
			process->started_in = p + 4;
	}
	return true;
}

/* Returns the process id in the innermost container: the last number of the line NSpid of STATUS.
 * Returns PID if there is no such line. */
static unsigned long find_inner_pid(pid_t pid, const char *status)
{
	const char *line = strstr(status, "\nNSpid:");
	const char *last = line ? strchr(line + 1, '\n') : NULL;
	if (!last)
		return (unsigned long)pid;
	while (last > line && !isspace((unsigned char)last[-1]))
		last--;
	return strtoul(last, NULL, 10);
}

bool has_filter(struct arena *arena, const struct target_process *process)
{
	size_t size;
	const char *status = read_process_file(arena, process->pid, "status", &size);
	return status && strstr(status, "\nSeccomp:\t2\n");
}

/* Returns true if PROCESS has loaded the library of D.  Its collector stops threads by SIGUSR1, and
 * sets the handler past the wraps.  After a signal from elsewhere that handler waits for ever. */
static bool has_collector(struct arena *arena, const struct target_process *process)
{
	static const char *const names[] = {"/libgphobos.so", "/libphobos2.so", "/libdruntime-"};
	size_t size;
	const char *maps = read_process_file(arena, process->pid, "maps", &size);

	for (size_t i = 0; maps && i < sizeof names / sizeof *names; i++)
		if (strstr(maps, names[i]))
			return true;
	return false;
}

/* Returns true if PROCESS has a handler of its dump signal, otherwise prints a message. */
static bool is_signal_handled(struct arena *arena, const struct target_process *process,
                              const char *status)
{
	pid_t pid = process->pid;
	if (process->signal <= 0) {
		complain("process %d takes no dump signal: its options say signal=none%s", pid,
		         has_filter(arena, process) ? ", or its seccomp filter allows the tracer "
		                                      "no handler, see leakwrap(7)"
		                                    : "");
		return false;
	}
	if (!is_in_signal_set(status, "\nSigCgt:", process->signal)) {
		const bool is_filtered = has_filter(arena, process);
		complain("process %d does not catch signal %s: it would end the process%s", pid,
		         signal_name(arena, process->signal),
		         is_filtered ? "; its seccomp filter may allow the tracer no handler, see "
		                       "leakwrap(7)"
		                     : "");
		return false;
	}
	if (process->signal == SIGUSR1 && has_collector(arena, process)) {
		complain("process %d is a D program, and signal USR1 would stop it for ever; start "
		         "it with LEAKWRAP_OPTIONS=signal=RTMIN+3",
		         pid);
		return false;
	}
	return true;
}

/* Fills in signal and log from the environment of PROCESS.  ERROR is the reason why its memory
 * cannot be read.  Returns false after a message. */
static bool read_options(struct arena *arena, struct target_process *process, int error,
                         const char *assumed_signal)
{
	if (!read_environment(arena, process))
		return false;
	const char *name = option_value(arena, process->options, "signal", assumed_signal);
	if (!name) {
		const bool may_not = error == EPERM || error == EACCES;
		complain("process %d does not say which signal asks for a dump: %s the signal by "
		         "--signal, which is USR1 unless another one was built in",
		         process->pid,
		         may_not ? arena_format(arena,
		                                "its memory cannot be read (%s); run as root, or "
		                                "name",
		                                strerror(error))
		                 : "it starts, executes a program or ends; if it stays so, name");
		return false;
	}
	process->signal = signal_number(name);
	if (process->signal < 0) {
		complain("process %d: %s is no signal", process->pid, name);
		return false;
	}
	process->log = option_value(arena, process->options, "log", "stderr");
	return true;
}

bool examine_process(struct arena *arena, struct target_process *process,
                     const char *assumed_signal)
{
	pid_t pid = process->pid;
	size_t size;
	struct traced_file traced;
	char *status = read_process_file(arena, pid, "status", &size);
	if (!status) {
		complain("process %d: %s", pid,
		         errno != ENOENT                       ? strerror(errno)
		         : kill(pid, 0) == 0 || errno == EPERM ? "/proc does not show it"
		                                               : "there is no such process");
		return false;
	}
	if (!is_running(arena, pid, status))
		return false;
	process->inner_pid = find_inner_pid(pid, status);
	if (!find_traced_file(arena, pid, &traced)) {
		const char *exe = arena_format(arena, "/proc/%d/exe", pid);
		int fd = open(exe, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			complain("process %d: its program cannot be read: %s%s", pid,
			         strerror(errno),
			         errno == EACCES ? "; run as root or as its user" : "");
		else
			complain("process %d is not traced: its program was not linked with "
			         "libleakwrap.a",
			         pid);
		if (fd >= 0)
			close(fd);
		return false;
	}
	enum announcement announcement = read_announcement(arena, process, &traced);
	if (announcement == NOT_ANNOUNCED ||
	    (announcement == NOT_READABLE && !read_options(arena, process, errno, assumed_signal)))
		return false;
	/* It may have begun to execute a program before, and have no handler then. */
	status = read_process_file(arena, pid, "status", &size);
	if (!status) {
		complain("process %d has ended", pid);
		return false;
	}
	return is_signal_handled(arena, process, status);
}

/* Returns true if a thread of PROCESS takes the dump signal now, and none waits for one.  A second
 * signal that waits would be lost. */
static bool takes_signal(const struct target_process *process)
{
	struct arena arena = {0};
	size_t size;
	const char *status = read_process_file(&arena, process->pid, "status", &size);
	bool takes = !status ||
	             (!is_in_signal_set(status, "\nShdPnd:", process->signal) &&
	              !is_blocked_by_all_threads(&arena, process->pid, status, process->signal));
	arena_free(&arena);
	return takes;
}

bool process_take_turn(const struct target_process *process, int *turn)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/status", process->pid);
	*turn = open(path, O_RDONLY | O_CLOEXEC);
	if (*turn < 0 || (flock(*turn, LOCK_EX | LOCK_NB) == 0 && takes_signal(process)))
		return true;
	process_end_turn(*turn);
	return false;
}

void process_end_turn(int turn)
{
	if (turn >= 0)
		close(turn);
}

bool ask_for_dump(const struct target_process *process, bool kinds)
{
	const union sigval value = {.sival_int = kinds ? LEAKWRAP_REQUEST_KINDS : LEAKWRAP_REQUEST};
	if (sigqueue(process->pid, process->signal, value) == 0)
		return true;
	complain("process %d: %s", process->pid, strerror(errno));
	return false;
}

void complain_of_no_turn(const struct target_process *process, double seconds)
{
	if (takes_signal(process)) {
		complain("other commands of leakwrap were asking process %d all the %g s",
		         process->pid, seconds);
		return;
	}
	struct arena arena = {0};
	const char *name = signal_name(&arena, process->signal);
	complain("process %d blocks signal %s: none of its threads took it within %g s; if it "
	         "writes a long dump, ask again later; if it opens the signal for moments only, "
	         "kill -s %s %d lets the signal wait for the next%s",
	         process->pid, name, seconds, name, process->pid,
	         process->signal < SIGRTMIN ? "; if it always blocks the signal, start it with "
	                                      "LEAKWRAP_OPTIONS=signal=RTMIN+3"
	                                    : "");
	arena_free(&arena);
}

bool reexamine_process(struct arena *arena, struct target_process *process)
{
	struct traced_file traced;
	return takes_signal(process) && find_traced_file(arena, process->pid, &traced) &&
	       read_announcement(arena, process, &traced) == ANNOUNCED;
}
