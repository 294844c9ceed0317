/* dump.c - the command dump: asks a running program for a dump, and waits until it is whole.
 *
 * The signal and the log are what the process announces in its memory (report/format.h).  Where that
 * may not be read, they are what its environment says: then the signal must stand there, since the
 * program may have another one built in, and catch SIGUSR1 for itself.  A signal that the program does
 * not catch would end it, so it is only sent to a program that has the tracer inside and a handler
 * installed.  It is sent as a request, which the program's own handler does not see.
 */
#include <argp.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "report/format.h"
#include "tools/command/commands.h"
#include "tools/elf/traced.h"
#include "tools/util.h"

enum { DEFAULT_TIMEOUT = 10 };

struct target_process {
	pid_t pid;              /* here */
	unsigned long inner;    /* as the process itself, perhaps in a container, sees it */
	const char *options;    /* LEAKWRAP_OPTIONS, "" when not set */
	const char *started_in; /* the folder, as PWD says, "" when not known */
	int signal;
	const char *log; /* the path pattern, or "stderr" */
	bool announced;  /* SIGNAL and LOG are what the process says itself */
};

/* The files to which the dump may come, as they were before it was asked for. */
struct awaited {
	const char *patterns[4]; /* of glob(3): nobody but the process knows the next %n */
	size_t pattern_count;
	glob_t files;
	off_t *sizes; /* the dump will stand behind these */
};

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

static char *read_proc(struct arena *arena, pid_t pid, const char *name, size_t *size)
{
	return read_file(arena, arena_format(arena, "/proc/%d/%s", pid, name), size);
}

/* -- options ------------------------------------------------------------------------------------- */

/* The value of KEY in the options, read as the tracer reads them; FALLBACK when it is not there. */
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

/* "USR1", "SIGUSR1", "10", "RTMIN+3"; 0 for none, -1 when it is no signal. */
static int signal_named(const char *name)
{
	uint64_t number;
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	if (strcasecmp(name, "none") == 0)
		return 0;
	if (parse_number(name, &number))
		return number > 0 && number <= 64 ? (int)number : -1;
	if (strncmp(name, "RTMIN", 5) == 0)
		return !name[5] ? SIGRTMIN
		       : name[5] == '+' && parse_number(name + 6, &number) && number < 32
		               ? SIGRTMIN + (int)number
		               : -1;
	for (int i = 1; i < 32; i++)
		if (sigabbrev_np(i) && strcmp(sigabbrev_np(i), name) == 0)
			return i;
	return -1;
}

/* -- the process --------------------------------------------------------------------------------- */

/* A file of the process that holds the tracer. */
struct traced_file {
	const char *mapped;    /* as /proc/PID/maps calls it */
	uint64_t announcement; /* its virtual address in the file; 0: there is none */
	uint64_t vaddr;        /* of the segment ... */
	uint64_t offset;       /* ... that begins at this offset, both rounded down to pages */
};

static bool has_tracer(const char *file, struct traced_file *traced)
{
	/* A mapped device must not be waited for. */
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool found = elf && elf_kind(elf) == ELF_K_ELF && elf_is_traced(elf);
	if (found && !elf_find_announcement(elf, &traced->announcement))
		traced->announcement = 0;
	uint64_t page = ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
	size_t count = 0;
	if (found)
		elf_getphdrnum(elf, &count);
	for (size_t i = count; i-- > 0;) {
		GElf_Phdr header;
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD) {
			traced->vaddr = header.p_vaddr & page;
			traced->offset = header.p_offset & page;
		}
	}
	elf_end(elf);
	close(fd);
	return found;
}

/* Finds the file with the tracer: the program, or one of its libraries. */
static bool find_traced(struct arena *arena, pid_t pid, struct traced_file *traced)
{
	char program[4096];
	size_t size;
	const char *exe = arena_format(arena, "/proc/%d/exe", pid);
	if (has_tracer(exe, traced)) {
		ssize_t length = readlink(exe, program, sizeof program);
		traced->mapped = arena_copy(arena, program, length > 0 ? (size_t)length : 0);
		return true;
	}
	char *maps = read_proc(arena, pid, "maps", &size), *save = NULL;
	for (char *line = maps ? strtok_r(maps, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		traced->mapped = strchr(line, '/');
		if (traced->mapped && strstr(line, " r-xp ") &&
		    has_tracer(arena_format(arena, "/proc/%d/root%s", pid, traced->mapped), traced))
			return true;
	}
	return false;
}

/* Finds where the process has mapped the first segment of TRACED. */
static bool find_mapping(struct arena *arena, pid_t pid, const struct traced_file *traced,
                         uint64_t *address)
{
	size_t size;
	char *maps = read_proc(arena, pid, "maps", &size), *save = NULL;
	for (char *line = maps ? strtok_r(maps, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *path = strchr(line, '/');
		/* "55d0c8a00000-55d0c8a08000 r--p 00000000 fe:00 4711 /opt/app/server" */
		const char *flags = strchr(line, ' '), *offset = flags ? strchr(flags + 1, ' ') : NULL;
		if (!path || !offset || strcmp(path, traced->mapped) != 0 ||
		    strtoull(offset, NULL, 16) != traced->offset)
			continue;
		*address = strtoull(line, NULL, 16);
		return true;
	}
	return false;
}

/* Reads SIZE bytes at ADDRESS of the process.  Returns false with errno set if they cannot be
 * read. */
static bool read_memory(struct arena *arena, pid_t pid, uint64_t address, void *bytes, size_t size)
{
	struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size}; // NOLINT
	if (process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size)
		return true;
	if (errno != ENOSYS)
		return false;
	int fd = open(arena_format(arena, "/proc/%d/mem", pid), O_RDONLY | O_CLOEXEC);
	bool read = fd >= 0 && pread(fd, bytes, size, (off_t)address) == (ssize_t)size;
	if (fd >= 0)
		close(fd);
	return read;
}

enum announced {
	ANNOUNCED,
	NOT_ANNOUNCED, /* after a message */
	NOT_READABLE,  /* errno says why */
};

/* Reads what the process announces, whose file with the tracer is TRACED. */
static enum announced read_announcement(struct arena *arena, struct target_process *process,
                                        const struct traced_file *traced)
{
	struct leakwrap_announcement said = {0};
	uint64_t mapped;
	pid_t pid = process->pid;
	if (traced->announcement == 0) {
		complain("process %d has another version of the tracer: link its program again, or ask "
		         "by kill",
		         pid);
		return NOT_ANNOUNCED;
	}
	errno = EACCES;
	if (!find_mapping(arena, pid, traced, &mapped) ||
	    !read_memory(arena, pid, mapped - traced->vaddr + traced->announcement, &said, sizeof said))
		return NOT_READABLE;
	if (said.version == 0 || (unsigned long)said.process != process->inner) {
		complain("process %d has not begun to trace: it starts, or it is about to execute a "
		         "program",
		         pid);
		return NOT_ANNOUNCED;
	}
	process->signal = said.signal;
	process->log = arena_copy(arena, said.log, strnlen(said.log, sizeof said.log));
	process->announced = true;
	return ANNOUNCED;
}

/* Is NUMBER in the set that /proc/PID/status gives as FIELD? */
static bool in_signal_set(const char *status, const char *field, int number)
{
	const char *at = strstr(status, field);
	if (!at)
		return false;
	uint64_t set = strtoull(at + strlen(field), NULL, 16);
	return set >> (number - 1) & 1;
}

/* Every thread blocks it: no thread would run the handler. */
static bool blocked_everywhere(struct arena *arena, pid_t pid, const char *status, int number)
{
	size_t size;
	if (!in_signal_set(status, "\nSigBlk:", number))
		return false;
	bool blocked = true;
	DIR *threads = opendir(arena_format(arena, "/proc/%d/task", pid));
	for (struct dirent *thread; threads && blocked && (thread = readdir(threads)) != NULL;) {
		const char *other = thread->d_name[0] == '.'
		                            ? NULL
		                            : read_file(arena,
		                                        arena_format(arena, "/proc/%d/task/%s/status",
		                                                     pid, thread->d_name),
		                                        &size);
		if (other)
			blocked = in_signal_set(other, "\nSigBlk:", number);
	}
	if (threads)
		closedir(threads);
	return blocked;
}

/* Can the process run a handler, by its STATUS?  False after a message. */
static bool is_running(pid_t pid, const char *status)
{
	const char *state = strstr(status, "\nState:\t");
	if (state && (state[8] == 'Z' || state[8] == 'X')) {
		complain("process %d has ended", pid);
		return false;
	}
	if (state && (state[8] == 'T' || state[8] == 't')) {
		complain("process %d is stopped", pid);
		return false;
	}
	return true;
}

/* Fills in the options and the folder.  False after a message. */
static bool read_environment(struct arena *arena, struct target_process *process)
{
	pid_t pid = process->pid;
	size_t size;
	char *environment = read_proc(arena, pid, "environ", &size);
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

/* The last number of the line NSpid: that of the innermost container; PID where there is no such line. */
static unsigned long inner_pid(pid_t pid, const char *status)
{
	const char *inner = strstr(status, "\nNSpid:");
	const char *last = inner ? strchr(inner + 1, '\n') : NULL;
	if (!last)
		return (unsigned long)pid;
	while (last > inner && !isspace((unsigned char)last[-1]))
		last--;
	return strtoul(last, NULL, 10);
}

/* Would the process's dump signal lead to a dump?  False after a message. */
static bool takes_signal(struct arena *arena, const struct target_process *process, const char *status)
{
	pid_t pid = process->pid;
	if (process->signal <= 0) {
		complain("process %d takes no dump signal: its options say signal=none", pid);
		return false;
	}
	const char *name = sigabbrev_np(process->signal);
	if (!name)
		name = arena_format(arena, "RTMIN+%d", process->signal - SIGRTMIN);
	if (!in_signal_set(status, "\nSigCgt:", process->signal)) {
		complain("process %d does not catch signal %s: it would end the process", pid, name);
		return false;
	}
	if (blocked_everywhere(arena, pid, status, process->signal)) {
		complain("process %d blocks signal %s", pid, name);
		return false;
	}
	return true;
}

/* Signal and log as the environment says, where the memory cannot be read: for the reason ERROR.
 * ASSUMED: the signal that the user names, or NULL.  False after a message. */
static bool read_options(struct arena *arena, struct target_process *process, int error,
                         const char *assumed)
{
	if (!read_environment(arena, process))
		return false;
	const char *name = option_value(arena, process->options, "signal", assumed);
	if (!name) {
		complain("process %d does not say which signal asks for a dump: its memory cannot be "
		         "read "
		         "(%s); run as root, or name it by --signal, which is USR1 unless another one "
		         "was "
		         "built in",
		         process->pid, strerror(error));
		return false;
	}
	process->signal = signal_named(name);
	if (process->signal < 0) {
		complain("process %d: %s is no signal", process->pid, name);
		return false;
	}
	process->log = option_value(arena, process->options, "log", "stderr");
	return true;
}

/* Reads and checks all that must be known before a signal may be sent to PROCESS, of which the pid
 * is known.  ASSUMED is the signal that the user names for a process that does not say it, or
 * NULL.  False after a message. */
static bool examine(struct arena *arena, struct target_process *process, const char *assumed)
{
	pid_t pid = process->pid;
	size_t size;
	struct traced_file traced;
	char *status = read_proc(arena, pid, "status", &size);
	if (!status) {
		complain("process %d: %s", pid, errno == ENOENT ? "there is none" : strerror(errno));
		return false;
	}
	if (!is_running(pid, status))
		return false;
	process->inner = inner_pid(pid, status);
	if (!find_traced(arena, pid, &traced)) {
		const char *exe = arena_format(arena, "/proc/%d/exe", pid);
		int fd = open(exe, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			complain("process %d: its program cannot be read: %s", pid, strerror(errno));
		else
			complain("process %d is not traced: its program was not linked with "
			         "libleakwrap.a",
			         pid);
		if (fd >= 0)
			close(fd);
		return false;
	}
	enum announced announced = read_announcement(arena, process, &traced);
	if (announced == NOT_ANNOUNCED ||
	    (announced == NOT_READABLE && !read_options(arena, process, errno, assumed)))
		return false;
	return takes_signal(arena, process, status);
}

/* -- the log ------------------------------------------------------------------------------------- */

/* What %e may stand for: what the program was called by, or else the name of its file. */
static const char *program_name(struct arena *arena, const struct target_process *process, bool called)
{
	char file[4096];
	size_t size;
	if (called) {
		const char *words = read_proc(arena, process->pid, "cmdline", &size);
		return words ? base_name(words) : "";
	}
	ssize_t length =
	        readlink(arena_format(arena, "/proc/%d/exe", process->pid), file, sizeof file - 1);
	file[length > 0 ? length : 0] = '\0';
	return arena_format(arena, "%s", base_name(file));
}

/* TEXT as a pattern of glob(3) that stands for nothing else. */
static const char *literally(struct arena *arena, const char *text)
{
	char *pattern = arena_alloc(arena, 2 * strlen(text) + 1), *p = pattern;
	for (; *text; text++) {
		if (strchr("*?[\\", *text))
			*p++ = '\\';
		*p++ = *text;
	}
	return pattern;
}

/* A path of the file or folder PATH that stays when the process has ended, until this command ends;
 * PATH itself if it cannot be opened. */
static const char *hold(struct arena *arena, const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? path : arena_format(arena, "/proc/self/fd/%d", fd);
}

/* A pattern for the log of a program called NAME, as seen from here; a relative path starts in FOLDER. */
static const char *log_pattern(struct arena *arena, const struct target_process *process,
                               const char *folder, const char *name)
{
	char *path = NULL;
	size_t room = 0, length = 0;

	for (const char *p = process->log; *p; p++) {
		const char *piece = NULL;
		char plain[2] = {*p, '\0'};
		if (*p == '%' && p[1] == 'p')
			piece = arena_format(arena, "%lu", process->inner);
		else if (*p == '%' && p[1] == 'n')
			piece = "*";
		else if (*p == '%' && p[1] == '%')
			piece = "%";
		else if (*p == '%' && p[1] == 'e')
			piece = literally(arena, name);
		p += piece != NULL;
		if (!piece)
			piece = literally(arena, plain);
		GROW(path, room, length + strlen(piece) + 1);
		memcpy(path + length, piece, strlen(piece) + 1);
		length += strlen(piece);
	}
	const char *start = arena_format(arena, "/proc/%d/%s", process->pid,
	                                 process->log[0] == '/' ? "root" : folder);
	if (process->log[0] == '/')
		start = hold(arena, start);
	const char *pattern = arena_format(arena, "%s/%s", start, path ? path : "");
	free(path);
	return pattern;
}

static off_t size_of(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 ? status.st_size : 0;
}

/* The files that fit the patterns by now. */
static glob_t find_files(const struct awaited *awaited)
{
	glob_t files = {0};
	for (size_t i = 0; i < awaited->pattern_count; i++)
		glob(awaited->patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
	return files;
}

/* How long FILE was when the dump was asked for. */
static off_t size_before(const struct awaited *awaited, const char *file)
{
	for (size_t i = 0; i < awaited->files.gl_pathc; i++)
		if (strcmp(awaited->files.gl_pathv[i], file) == 0)
			return awaited->sizes[i];
	return 0;
}

/* Looks in FILE, from START on, for a whole dump of the process, other than of misuse; prints it and returns true. */
static bool print_dump(const struct target_process *process, const char *file, off_t start)
{
	char prefix[64];
	FILE *stream = fopen(file, "re");
	char *line = NULL;
	size_t room = 0, kept_size = 0, kept_room = 0;
	char *kept = NULL;
	bool begun = false, whole = false;
	ssize_t length;

	if (!stream)
		return false;
	snprintf(prefix, sizeof prefix, "%s%lu.", LEAKWRAP_LINE_PREFIX, process->inner);
	fseeko(stream, start, SEEK_SET);
	while (!whole && (length = getline(&line, &room, stream)) > 0 && line[length - 1] == '\n') {
		/* Another program may have left its line without an end. */
		const char *own = memmem(line, (size_t)length, prefix, strlen(prefix));
		const char *rest = own ? strchr(own, ']') : NULL;
		if (!rest)
			continue;
		size_t size = (size_t)(line + length - own);
		/* What stands in front may be the end of a dump that was being written already. */
		if (strncmp(rest, "] dump ", 7) == 0) {
			begun = memmem(own, size, " reason=misuse ", 15) == NULL;
			kept_size = 0;
		}
		if (!begun)
			continue;
		GROW(kept, kept_room, kept_size + size);
		memcpy(kept + kept_size, own, size);
		kept_size += size;
		whole = strncmp(rest, "] end ", 6) == 0;
	}
	if (whole)
		fwrite(kept, 1, kept_size, stdout);
	free(kept);
	free(line);
	fclose(stream);
	return whole;
}

static bool print_awaited(const struct target_process *process, const struct awaited *awaited)
{
	glob_t files = find_files(awaited);
	bool printed = false;
	for (size_t i = 0; i < files.gl_pathc && !printed; i++) {
		off_t before = size_before(awaited, files.gl_pathv[i]);
		printed = size_of(files.gl_pathv[i]) > before &&
		          print_dump(process, files.gl_pathv[i], before);
	}
	globfree(&files);
	return printed;
}

/* -- the command --------------------------------------------------------------------------------- */

struct dump_options {
	uint64_t pid, timeout;
	const char *signal; /* as the user names it, or NULL */
};

static error_t parse_dump(int key, char *argument, struct argp_state *state)
{
	struct dump_options *options = state->input;
	switch (key) {
	case 't':
		if (!parse_number(argument, &options->timeout) || options->timeout > 86400)
			argp_error(state, "--timeout=%s: seconds", argument);
		break;
	case 's':
		options->signal = argument;
		if (signal_named(argument) <= 0)
			argp_error(state, "--signal=%s: not a signal", argument);
		break;
	case ARGP_KEY_ARG:
		if (options->pid || !parse_number(argument, &options->pid) || options->pid == 0 ||
		    options->pid > INT32_MAX)
			argp_error(state, "%s: not a process id", argument);
		break;
	case ARGP_KEY_END:
		if (!options->pid)
			argp_usage(state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Where the dump may come to: nowhere when it goes to a terminal or a pipe. */
static struct awaited await_dump(struct arena *arena, const struct target_process *process)
{
	struct awaited awaited = {0};
	struct stat status;

	if (strcmp(process->log, "stderr") == 0) {
		const char *fd = arena_format(arena, "/proc/%d/fd/2", process->pid);
		if (stat(fd, &status) == 0 && S_ISREG(status.st_mode))
			awaited.patterns[awaited.pattern_count++] = hold(arena, fd);
	} else if (process->announced) {
		awaited.patterns[awaited.pattern_count++] = log_pattern(arena, process, "root", "");
	} else {
		/* A relative path starts where the program was started, which it may have left. */
		const char *folders[] = {
		        "cwd", arena_format(arena, "root%s", literally(arena, process->started_in))};
		size_t folder_count = process->log[0] == '/' || !*process->started_in ? 1 : 2;
		for (size_t i = 0; i < 2 * folder_count; i++)
			awaited.patterns[awaited.pattern_count++] =
			        log_pattern(arena, process, folders[i / 2],
			                    program_name(arena, process, i % 2 == 0));
	}
	awaited.files = find_files(&awaited);
	awaited.sizes = arena_alloc(arena, awaited.files.gl_pathc * sizeof *awaited.sizes);
	for (size_t i = 0; i < awaited.files.gl_pathc; i++)
		awaited.sizes[i] = size_of(awaited.files.gl_pathv[i]);
	return awaited;
}

static enum status wait_for_dump(const struct target_process *process, const struct awaited *awaited,
                                 uint64_t timeout)
{
	for (uint64_t waited = 0; waited < timeout * 100; waited++) {
		const struct timespec pause = {.tv_nsec = 10000000};
		if (print_awaited(process, awaited))
			return STATUS_FINE;
		if (kill(process->pid, 0) != 0) {
			if (print_awaited(process, awaited)) /* it wrote that last */
				return STATUS_FINE;
			complain("process %d ended before its dump was whole", process->pid);
			return STATUS_USAGE;
		}
		nanosleep(&pause, NULL);
	}
	complain("no whole dump of process %d came to %s within %" PRIu64 " s", process->pid,
	         strcmp(process->log, "stderr") == 0 ? "its standard error" : process->log, timeout);
	return STATUS_USAGE;
}

static enum status take_dump(struct arena *arena, const struct target_process *process,
                             uint64_t timeout)
{
	struct awaited awaited = await_dump(arena, process);
	enum status status = STATUS_FINE;

	if (sigqueue(process->pid, process->signal, (union sigval){.sival_int = LEAKWRAP_REQUEST}) !=
	    0) {
		complain("process %d: %s", process->pid, strerror(errno));
		status = STATUS_USAGE;
	} else if (awaited.pattern_count == 0) {
		char target[4096];
		ssize_t length = readlink(arena_format(arena, "/proc/%d/fd/2", process->pid), target,
		                          sizeof target - 1);
		target[length > 0 ? length : 0] = '\0';
		complain("the dump goes to the process's standard error: %s",
		         *target ? target : "closed");
	} else {
		status = wait_for_dump(process, &awaited, timeout);
	}
	globfree(&awaited.files);
	return status;
}

int command_dump(int argc, char **argv)
{
	static const struct argp_option table[] = {
	        {"signal", 's', "NAME", 0,
	         "The dump signal of a process whose memory this user may not read (USR1, RTMIN+3)", 0},
	        {"timeout", 't', "SECONDS", 0, "How long to wait for the dump (default 10)", 0},
	        {0},
	};
	static const struct argp argp = {
	        .options = table,
	        .parser = parse_dump,
	        .args_doc = "PID",
	        .doc = "Asks a traced process for a dump, waits until it is whole, and prints it."
	               "\vThe process itself says which signal asks it, and where its log is.  The "
	               "program's own handler of the signal does not run.  "
	               "Nothing is sent to a process that is not traced, does not catch the signal, or "
	               "blocks it.\n\n"
	               "  leakwrap dump PID | leakwrap report",
	};
	struct dump_options options = {.timeout = DEFAULT_TIMEOUT};
	struct arena arena = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	struct target_process process = {.pid = (pid_t)options.pid};
	enum status status = examine(&arena, &process, options.signal)
	                             ? take_dump(&arena, &process, options.timeout)
	                             : STATUS_USAGE;
	arena_free(&arena);
	return (int)status;
}
