/* port.h - the interface to the operating system.
 *
 * linux.c and its parts implement it with system calls.  No function here allocates, takes a lock
 * of the C library, is a cancellation point, or changes errno.  A signal handler may call all of
 * them.
 */
#ifndef LEAKWRAP_PORT_H
#define LEAKWRAP_PORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- pages ------------------------------------------------------------------------------------- */

/* Maps zero-filled pages for SIZE bytes, rounded up to pages.  Returns NULL if there is no memory
 * or the limit is reached.  Pages take memory when they are first touched, and are never backed by
 * huge pages. */
void *leakwrap_pages_map(size_t size);

/* Does what leakwrap_pages_map does, for a table of which only a part may ever be touched.  Of
 * pages that are not in memory, an eighth counts against the limit.  It counts from the start if
 * the table is one of a few, and else when the limit is near and a newer table was mapped. */
void *leakwrap_pages_map_sparse(size_t size, bool is_one_of_few);

/* Does what leakwrap_pages_map does, for a stack: an access to the page below the mapped pages
 * faults. */
void *leakwrap_stack_map(size_t size);

/* Unmaps the pages of one leakwrap_pages_map(SIZE). */
void leakwrap_pages_unmap(void *mapped, size_t size);

/* Limits the pages that leakwrap_pages_map may hold to BYTES.  Beyond that it fails.  0: no
 * limit. */
void leakwrap_pages_limit(size_t bytes);

/* Returns the bytes of memory that the mapped pages take now.  For a dump. */
size_t leakwrap_pages_held(void);

/* Calls VISIT for each range of memory that the tracer has mapped for its tables.
 * CONTEXT is passed to VISIT.  Takes no lock. */
void leakwrap_pages_each(void (*visit)(void *context, uintptr_t start, uintptr_t end),
                         void *context);

/* Opens the descriptor for leakwrap_pages_written.  Returns a negative number if the kernel cannot
 * tell which pages were written to.  Reading a page that was never written to costs a page fault.
 * The caller closes the descriptor with leakwrap_close. */
int leakwrap_pagemap_open(void);

/* Returns the size of a page in bytes. */
size_t leakwrap_page_size(void);

#define LEAKWRAP_PAGES_AT_ONCE 64

/* Returns a bit for each of LEAKWRAP_PAGES_AT_ONCE pages: set if the page may have been written
 * to.  PAGEMAP: from leakwrap_pagemap_open; if negative, all bits are set.  START: beginning of the
 * first page.  Sets *PAGE to the size of a page in bytes. */
uint64_t leakwrap_pages_written(int pagemap, const void *start, size_t *page);

/* Returns the first page from START on, before END, that may have been written to, or END.  Faster
 * than leakwrap_pages_written where few pages were.  START: beginning of a page.  Takes 4 KB of
 * stack. */
uintptr_t leakwrap_pages_skip_unwritten(int pagemap, uintptr_t start, uintptr_t end);

/* Does what leakwrap_pages_written does, for pages of a private mapping: a page that is still the
 * file's has not been written to. */
uint64_t leakwrap_private_pages_written(int pagemap, const void *start, size_t *page);

/* Returns a bit for each page of the SIZE bytes at START: set if the page is in memory.  SIZE: at
 * most LEAKWRAP_PAGES_AT_ONCE pages.  START: beginning of a page.  Returns 0 if the kernel cannot
 * tell.  Sets *PAGE to the size of a page in bytes. */
uint64_t leakwrap_pages_present(const void *start, size_t size, size_t *page);

/* Detaches the content of whole pages at once: they read as zeros from then on.  A store that
 * another thread makes meanwhile goes either to the detached content or to the fresh pages.
 * Returns the new address of the content, which the caller passes to leakwrap_scratch_unmap.
 * Returns NULL and changes nothing if the content cannot be detached. */
void *leakwrap_pages_detach(void *start, size_t size);

/* Gives the memory of whole pages at START, SIZE bytes, back to the system.  They read as zeros
 * from then on, and still count against the limit.  Returns false and changes nothing if that is
 * not possible. */
bool leakwrap_pages_empty(void *start, size_t size);

/* Discards the SIZE bytes at START, the whole of one leakwrap_pages_map.  They may read as zeros
 * from then on, and no longer count against the limit. */
void leakwrap_pages_discard(void *start, size_t size);

/* Runs a full memory barrier in every running thread of the process.  Returns false if there is no
 * way to do so. */
bool leakwrap_threads_fence(void);

/* Does what leakwrap_pages_map does, but this process shares the pages with the processes that it
 * forks.  They do not count against the limit. */
void *leakwrap_pages_map_shared(size_t size);

/* Maps zero-filled pages for the time of one dump, or for a filter of the program: no limit, not
 * counted.  Returns NULL if there is no memory. */
void *leakwrap_scratch_map(size_t size);

/* Unmaps the pages of leakwrap_scratch_map(SIZE) or leakwrap_pages_detach. */
void leakwrap_scratch_unmap(void *scratch, size_t size);

/* Maps zero-filled pages, which can only be read, in place of those from START to END.  Returns
 * false and changes nothing if there is no memory. */
bool leakwrap_pages_replace(uintptr_t start, uintptr_t end);

/* Lets every thread read the pages from START to END, whatever protection key they have (pkeys(7)).
 * Returns false and changes nothing if the kernel refuses. */
bool leakwrap_pages_open(uintptr_t start, uintptr_t end);

/* Returns whether the byte at ADDRESS can be read.  Costs one system call. */
bool leakwrap_readable(uintptr_t address);

/* Returns whether the byte at ADDRESS certainly cannot be read.  If a filter forbids to ask, it may
 * be readable or not.  Costs one system call. */
bool leakwrap_is_unreadable(uintptr_t address);

#define LEAKWRAP_PAGE 4096u /* smallest page, in bytes, of all architectures; probing steps by it */

/* A mapping of the process. */
struct leakwrap_mapping {
	uintptr_t start, end;
	bool is_readable, is_writable, is_executable, is_shared;
	bool is_file;    /* it has a file's name, or is shared memory with a name */
	bool is_memory;  /* its name is one of shared memory */
	bool is_break;   /* "[heap]": the memory of brk(2) */
	bool is_stack;   /* "[stack]": the stack of the process's first thread */
	bool is_special; /* a device's, or the kernel's: reading may have effects */
};

/* Visits MAPPING, which the caller owns.  Returns false to end the visits. */
typedef bool leakwrap_mapping_visitor(void *context, const struct leakwrap_mapping *mapping);

/* The longest line of /proc/self/maps, in bytes: a path of 4,096 bytes, each in four characters,
 * behind 100 bytes for all else. */
#define LEAKWRAP_MAPPING_LINE_MAX ((size_t)17 << 10)

/* Reads /proc/self/maps (proc(5)), and calls VISIT for each mapping, the lowest first.  CONTEXT is
 * passed to VISIT.  BUFFER: SIZE bytes, at least LEAKWRAP_MAPPING_LINE_MAX.  Returns false if the
 * mappings cannot be read to the end, or if VISIT has ended the visits. */
bool leakwrap_mappings_each(char *buffer, size_t size, leakwrap_mapping_visitor *visit,
                            void *context);

/* -- signals ----------------------------------------------------------------------------------- */

/* A signal mask. */
struct leakwrap_mask {
	uint64_t bits[2]; /* the kernel's sigset_t: 64 bits, 128 on MIPS */
#ifndef LEAKWRAP_BARE
	bool is_to_restore; /* false: a filter of the program forbade to change the mask */
#endif
};

/* Blocks every signal for this thread.  Sets *BEFORE to the earlier mask. */
void leakwrap_signals_block(struct leakwrap_mask *before);

/* Restores the mask *BEFORE for this thread, unless it is not to restore. */
void leakwrap_signals_restore(const struct leakwrap_mask *before);

/* Returns whether SIGNO, which must be blocked, is pending. */
bool leakwrap_signal_pending(int signo);

/* Discards SIGNO, which must be blocked, if it is pending.  Returns whether it was.  Then *INFO, a
 * siginfo_t, unless INFO is NULL, tells who has sent it. */
bool leakwrap_signal_discard(int signo, void *info);

/* Sends SIGNO to this thread, or to the process if a filter of the program forbids that.  Returns
 * false if it forbids both. */
bool leakwrap_signal_send(int signo);

/* A handler of a signal.  INFO is a siginfo_t, CONTEXT a ucontext_t. */
typedef void leakwrap_signal_handler(int signo, void *info, void *context);

/* Calls HANDLER for SIGSEGV and SIGBUS from now on, which are not blocked for this thread.  HANDLER
 * may return, or leave by longjmp.  Returns false and changes nothing if the kernel refuses, or on
 * an architecture whose calls are not known.  After success the caller calls
 * leakwrap_faults_release, which restores what was before.  One thread at a time. */
bool leakwrap_faults_catch(leakwrap_signal_handler *handler);
void leakwrap_faults_release(void);

/* -- lock -------------------------------------------------------------------------------------- */

/* A lock for the slow paths.  Signals are blocked while it is held, so a handler never meets the
 * lock held by its own thread. */
struct leakwrap_lock {
	uint32_t word;             /* 0: free */
	struct leakwrap_mask mask; /* the holder's mask */
#ifndef LEAKWRAP_BARE
	_Atomic uint32_t waiting;       /* threads that wait on RELEASES */
	_Atomic uint32_t releases;      /* changes when the lock is released while threads wait */
	_Atomic int forking;            /* if the holder is in fork: its thread id, else 0 */
	_Atomic uint32_t lent;          /* thread id of the borrower, or 0 */
	struct leakwrap_mask lent_mask; /* the borrower's mask */
#endif
};

/* Acquires the lock, and blocks all signals of this thread until leakwrap_unlock.  Waits while
 * another thread has the lock.  Not recursive.  Without an operating system all locks are the
 * program's one lock. */
void leakwrap_lock(struct leakwrap_lock *lock);

#ifndef LEAKWRAP_BARE
/* Writes to the stack this many BYTES further down.  If the stack ends before, the fault comes
 * here, where no signal is blocked and no table is half changed.  Then the program's handler is
 * called, or that of crash traces.  The kernel ends a program that blocks the signal of a fault.
 * leakwrap_lock and leakwrap_trylock do so, for work that takes at most 600 bytes.  Other work
 * calls this function first.  BYTES must be less than a page. */
void leakwrap_touch_stack(size_t bytes);
#endif

/* Returns false if the lock is held; else acquires it. */
bool leakwrap_trylock(struct leakwrap_lock *lock);

/* Returns whether the calling thread has borrowed the lock, which it has, from a thread that forks.
 * Do not take long then: the fork may go on (linux_lock.c). */
bool leakwrap_lock_is_borrowed(const struct leakwrap_lock *lock);

/* Releases the lock, and restores the signal mask from before. */
void leakwrap_unlock(struct leakwrap_lock *lock);

/* Acquire and release the lock around a fork.  In fork the C library takes locks of its own.
 * Another thread may hold such a lock and wait for this lock.  It may do so in a signal handler or
 * in a function that the C library calls.  It would wait for ever.  So this lock is lent while the
 * forking thread sleeps.  It is not lent to a thread that is about to fork. */
void leakwrap_lock_for_fork(struct leakwrap_lock *lock);
void leakwrap_unlock_after_fork(struct leakwrap_lock *lock, bool is_child);

/* -- other threads, and copies of the process -------------------------------------------------- */

/* The signal that parks threads.  The C library keeps it for itself, and no program can block it
 * with the C library's functions. */
int leakwrap_park_signal(void);

/* Calls HANDLER for the park signal from now on, with all signals blocked.  HANDLER NULL: restores
 * the action that was there before the last call.  Returns false if the kernel refuses, or on an
 * architecture whose calls are not known. */
bool leakwrap_park_signal_catch(leakwrap_signal_handler *handler);

/* Lets the handler of the park signal run on each thread's own stack, now and from now on.  Before,
 * it runs on the alternate stack of a thread that has one: Go's threads have little room elsewhere.
 * Threads that share an alternate stack must not be there at once. */
void leakwrap_park_signal_leave_alternate_stacks(void);

/* Calls the handler that the park signal had before leakwrap_park_signal_catch, if it had one. */
void leakwrap_park_signal_pass_on(int signo, void *info, void *context);

/* Sends the park signal with VALUE to THREAD of this process.  Returns the system call's result. */
long leakwrap_park_signal_send(int thread, int value);

/* Returns whether INFO, the handler's second argument, is of a leakwrap_park_signal_send(VALUE). */
bool leakwrap_park_signal_is(const void *info, int value);

/* Unblocks the park signal for this thread while others are blocked, and blocks it again. */
void leakwrap_park_signal_allow(bool is_allowed);

/* What waits in a process with descriptors of userfaultfd(2) until one of its threads has answered.
 * In a copy of the process no access waits. */
enum leakwrap_userfaultfd {
	LEAKWRAP_USERFAULTFD_NONE,   /* nothing: it has no such descriptor */
	LEAKWRAP_USERFAULTFD_FAULTS, /* accesses to some of its memory */
	/* Its forks, and accesses to some pages that were never written to. */
	LEAKWRAP_USERFAULTFD_FORKS,
	/* Its forks, and accesses to some shared memory, written to or not (minor faults). */
	LEAKWRAP_USERFAULTFD_FORKS_AND_MINOR,
};

/* Looks through this process's descriptors, and returns what they are used for.  A system call for
 * each descriptor; signal-safe. */
enum leakwrap_userfaultfd leakwrap_find_userfaultfd(void);

/* Copies the process, without the C library: no handlers of pthread_atfork(3) run, and no SIGCHLD
 * is sent at the copy's end.  Returns 0 in the copy, its process id in the original, or a negative
 * errno value. */
int leakwrap_process_copy(void);

/* Ends the process at once, without what exit does. */
_Noreturn void leakwrap_process_end(int status);

/* Limits the copy's core file to nothing, and has the kernel kill the copy rather than another
 * process when memory is short. */
void leakwrap_process_be_expendable(void);

/* Waits until the copy PID has ended, at most NANOSECONDS, and sets *STATUS as wait(2) does.  Kills
 * a copy that takes longer.  Returns false then, or if the program has waited for it. */
bool leakwrap_process_await(int pid, uint64_t nanoseconds, int *status);

/* -- time and process -------------------------------------------------------------------------- */

uint64_t leakwrap_time_monotonic(void); /* nanoseconds */
int64_t leakwrap_time_utc(void);        /* seconds since 1970 */
uint64_t leakwrap_time_boot(void);      /* hundredths of a second since the machine started */

/* Returns how many nanoseconds are left of SECONDS and NANOSECONDS, which began at START by
 * leakwrap_time_monotonic.  Preserves errno. */
uint64_t leakwrap_time_left(int64_t seconds, uint32_t nanoseconds, uint64_t start);

int leakwrap_process_id(void);
int leakwrap_process_parent_id(void); /* 0: it is in an outer PID namespace, or not known */

/* Returns whether PARENT, which was this process's parent, has ended.  Returns false if a filter
 * forbids the question. */
bool leakwrap_process_has_lost_parent(int parent);

int leakwrap_thread_id(void);

/* Returns the id of the calling thread, and asks the kernel once only.  A child of vfork, and a
 * child of a fork for which leakwrap_thread_reset_in_child was not called, get the id of the
 * parent's thread. */
int leakwrap_thread_known_id(void);

/* This thread is the only one of a forked child: asks the kernel for its id, which is that of the
 * process, too. */
void leakwrap_thread_reset_in_child(void);

uint32_t leakwrap_user_id(void); /* effective; (uint32_t)-1, which no user has: not known */

/* The facts that the kernel shows about a process.  Exec chooses the addresses and the name, and
 * fork keeps them. */
struct leakwrap_process_facts {
	uint64_t started;                      /* unit of leakwrap_time_boot */
	uintptr_t code_start, code_end, stack; /* 0: not shown to this user, or it has ended */
	uint32_t name;                         /* a hash; programs may rename themselves */
};

/* Reads the facts about process PID into *FACTS.  Returns false if there is no process PID or the
 * kernel does not show it.  Takes 1 KiB of stack. */
bool leakwrap_process_facts(int pid, struct leakwrap_process_facts *facts);

/* Returns whether the process certainly has one thread: the C library says so.  Only glibc from
 * 2.32 on does. */
bool leakwrap_process_has_one_thread(void);

/* Returns whether an emulator of processes (qemu) runs the program.  Its threads are listed among
 * the program's. */
bool leakwrap_process_is_emulated(void);

/* Returns whether THREAD of PROCESS has ended.  False if the kernel cannot tell. */
bool leakwrap_thread_has_ended(int process, int thread);

/* Returns whether this thread runs on its alternate stack for signals (sigaltstack(2)).  That may
 * be a variable of a function further out: who compares places on the stack asks first.  A system
 * call. */
bool leakwrap_thread_is_on_alternate_stack(void);

/* Returns the address of this thread's alternate stack for signals, or 0.  A system call. */
uintptr_t leakwrap_thread_alternate_stack(void);

/* Returns the state of THREAD of this process: a letter of /proc/PID/stat (proc(5)), such as 'S'
 * for a thread that sleeps.  Returns '\0' if the kernel does not tell. */
char leakwrap_thread_kernel_state(int thread);

/* A system call in which a thread sleeps. */
struct leakwrap_sleep {
	long call; /* its number, or -1: unknown */
	/* The complements of its arguments, and of the thread's stack pointer and program counter
	 * when it returns.  A search for lost memory would take the words themselves for pointers
	 * of the program. */
	uintptr_t complements[8];
};

/* Sets *SLEEP to the system call in which THREAD of this process sleeps.  It is unknown if the
 * thread runs, if the kernel does not tell, and on most architectures. */
void leakwrap_thread_read_sleep(int thread, struct leakwrap_sleep *sleep);

/* Makes the thread go on with SLEEP when the signal handler with CONTEXT returns.  SLEEP was read
 * before the signal was sent.  In the handler all signals are blocked.  Returns false and changes
 * nothing if the handler has not interrupted SLEEP, or if SLEEP cannot go on as if nothing had
 * happened.  Then the call returns EINTR, unless the kernel restarts it. */
bool leakwrap_sleep_resume(const struct leakwrap_sleep *sleep, void *context);

/* Returns whether THREAD, which does not answer signals, is a thread of the kernel in this process:
 * a worker of io_uring or vhost.  It never runs the program's code, and has no stack of its own. */
bool leakwrap_thread_is_of_kernel(int thread);

/* Returns the auxiliary vector's word of TYPE (AT_* of <elf.h>), or 0 if there is none. */
uintptr_t leakwrap_auxiliary(unsigned type);

/* Returns the value of the environment variable NAME, or NULL.  The environment owns it. */
const char *leakwrap_environment(const char *name);

/* Returns the path by which the program was executed, perhaps a relative path.  NULL if the kernel
 * does not say. */
const char *leakwrap_process_started_as(void);

/* Copies the program's name without its folder to NAME, cut to SIZE - 1 bytes and ended by NUL. */
void leakwrap_process_name(char *name, size_t size);

/* Copies the host's name as uname(2) has it, with "_" for "/", to NAME, cut to SIZE - 1 bytes and
 * ended by NUL. */
void leakwrap_host_name(char *name, size_t size);

/* Copies the words of the command line that started the program to COMMAND, each with its NUL: at
 * most SIZE bytes.  Returns the number of bytes copied, or 0 if the command line is not known.  A
 * longer command line fills all SIZE bytes. */
size_t leakwrap_process_command(char *command, size_t size);

/* Returns whether the program was started with raised privileges.  Its environment is not
 * trustworthy then. */
bool leakwrap_process_is_privileged(void);

/* Waits while *WORD is VALUE, at most NANOSECONDS.  Spurious returns are possible. */
void leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds);

/* Wakes all threads that wait on WORD. */
void leakwrap_wake(_Atomic uint32_t *word);

/* Waits while *WORD is VALUE, at most NANOSECONDS.  *WORD is in memory that another process shares:
 * that process wakes this one by FUTEX_WAKE (futex(2)).  Spurious returns are possible. */
void leakwrap_wait_shared(const uint32_t *word, uint32_t value, uint64_t nanoseconds);

/* -- files ------------------------------------------------------------------------------------- */

/* Opens PATH by open(2).  Returns a descriptor, or a negative errno value. */
long leakwrap_open(const char *path, int flags, int mode);

/* Opens the file NAME of /proc/self, which has at most 30 characters, to read it.  If the main
 * thread has ended, its files show no memory and no program.  Then the file of this thread is
 * opened: /proc/thread-self, since Linux 3.17 (proc(5)). */
long leakwrap_proc_open(const char *name);

/* Closes FD.  Returns 0, or a negative errno value. */
long leakwrap_close(int fd);

/* Opens a new file that is in memory alone, for reading and writing.  It is closed on exec.
 * Returns a descriptor or a negative errno value. */
int leakwrap_memory_file(void);

/* The system calls of their names.  Each returns its result, or a negative errno value. */
long leakwrap_read(int fd, void *buffer, size_t size);
long leakwrap_write(int fd, const void *bytes, size_t size);
long leakwrap_fcntl(int fd, int command, long argument);
long leakwrap_rename(const char *from, const char *to);

/* Writes the target of the symbolic link PATH to TARGET, of SIZE bytes, without a 0 byte.  Returns
 * its length, or a negative errno value. */
long leakwrap_read_link(const char *path, char *target, size_t size);

/* Writes the path of the current folder to FOLDER, of SIZE bytes, with a 0 byte.  Returns false if
 * it is longer, or does not lie below the root folder: then FOLDER has no meaning. */
bool leakwrap_current_folder(char *folder, size_t size);

/* Takes the advisory lock of the open file FD (flock(2)), without waiting.  Returns false if
 * another process has it.  The lock ends when FD is closed. */
bool leakwrap_lock_file(int fd);

/* Returns the size of the file in bytes, or 0 if it is not known. */
uint64_t leakwrap_file_size(int fd);

/* Maps SIZE bytes of the file at OFFSET (any value) into memory, read-only.  Returns NULL on
 * failure. */
const void *leakwrap_file_map(int fd, uint64_t offset, size_t size);

/* Unmaps BYTES, which leakwrap_file_map(OFFSET, SIZE) returned. */
void leakwrap_file_unmap(const void *bytes, uint64_t offset, size_t size);

/* Visits an entry of a folder of /proc whose name is NUMBER.  FOLDER is the descriptor by which the
 * folder is read.  Returns false to end the visits. */
typedef bool leakwrap_number_visitor(void *context, int number, int folder);

/* Calls VISIT for each entry of the folder PATH whose name is a number.  CONTEXT is passed to
 * VISIT.  Returns false if the folder cannot be read. */
bool leakwrap_folder_each_number(const char *path, leakwrap_number_visitor *visit, void *context);

/* Waits until FD can be written to, at most NANOSECONDS.  Returns false if it cannot be by then. */
bool leakwrap_wait_writable(int fd, uint64_t nanoseconds);

/* Identifies the file of a descriptor, so that the caller can see whether it has changed. */
struct leakwrap_file {
	uint64_t device, inode;
	bool is_terminal;
	bool is_pipe;
	bool is_regular;
	bool is_append; /* opened with O_APPEND */
};

/* Fills *FILE for the descriptor FD.  Returns false if FD is not open. */
bool leakwrap_file_describe(int fd, struct leakwrap_file *file);

#endif
