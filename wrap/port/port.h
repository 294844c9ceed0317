/* port.h - all that the tracer asks of the operating system.
 *
 * linux.c and its parts answer by system calls.  Nothing here allocates, takes a lock of the C library, is a
 * cancellation point, or changes errno; all of it may be called from signal handlers.
 */
#ifndef LEAKWRAP_PORT_H
#define LEAKWRAP_PORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- pages --------------------------------------------------------------------------------------- */

/* Zero-filled pages for SIZE bytes (rounded up to pages), or NULL.  They take memory when they are
 * first touched, and are never backed by huge pages. */
void *leakwrap_pages_map(size_t size);
void leakwrap_pages_unmap(void *mapped, size_t size);

/* From now on leakwrap_pages_map fails rather than hold more than BYTES of address space (0: no limit). */
void leakwrap_pages_limit(size_t bytes);

/* Bytes of memory that the pages which are mapped take now; for a dump. */
size_t leakwrap_pages_held(void);

/* Which pages were ever written to?  Reading the others would cost a fault for each.  Opens what tells it, a descriptor or
 * a negative number: it is not known.  leakwrap_close gives it back. */
int leakwrap_pages_ask(void);

#define LEAKWRAP_PAGES_AT_ONCE 64

/* A bit for each of the LEAKWRAP_PAGES_AT_ONCE pages from START on, which begins one: set when the page may have been
 * written to.  *PAGE is the size of one. */
uint64_t leakwrap_pages_written(int asked, const void *start, size_t *page);

/* A bit for each page of the SIZE bytes, at most LEAKWRAP_PAGES_AT_ONCE pages, from START on, which begins one: set when it is
 * in memory.  None when that is not known.  *PAGE is the size of one. */
uint64_t leakwrap_pages_present(const void *start, size_t size, size_t *page);

/* Takes the content of whole pages away at once: they read as zeros from now on.  A store that another thread makes meanwhile is
 * found in the one or in the other.  Returns where the content is now, for leakwrap_scratch_unmap, or NULL: then
 * nothing has changed. */
void *leakwrap_pages_detach(void *start, size_t size);

/* The SIZE bytes at START, all that one call of leakwrap_pages_map has mapped, are not needed any more: they may read as zeros from now on, and the
 * limit counts them no longer. */
void leakwrap_pages_discard(void *start, size_t size);

/* A full memory barrier in every running thread of the process.  False when there is no way to have one. */
bool leakwrap_threads_fence(void);

/* As leakwrap_pages_map, but the pages stay common to this process and those that it forks.  They
 * are not counted. */
void *leakwrap_pages_map_shared(size_t size);

/* Pages for the length of one dump: not limited, not counted. */
void *leakwrap_scratch_map(size_t size);
void leakwrap_scratch_unmap(void *scratch, size_t size);

/* Can the byte at ADDRESS be read?  One system call. */
bool leakwrap_readable(uintptr_t address);

#define LEAKWRAP_PAGE 4096u /* the smallest page of the architectures served; probing steps by it */

/* -- signals ------------------------------------------------------------------------------------- */

/* Blocks every signal for this thread and gives back what was blocked before. */
struct leakwrap_mask {
	uint64_t bits[2]; /* the kernel's sigset_t: 64 bits, 128 on MIPS */
};
void leakwrap_signals_block(struct leakwrap_mask *before);
void leakwrap_signals_restore(const struct leakwrap_mask *before);

/* Is SIGNO, which is blocked, waiting to be delivered?  And takes it away. */
bool leakwrap_signal_pending(int signo);
void leakwrap_signal_discard(int signo);

/* Sends SIGNO to this thread. */
void leakwrap_signal_send(int signo);

/* -- lock ---------------------------------------------------------------------------------------- */

/* A lock for the paths that meet something new.  Signals are blocked while it is held, so that no
 * handler can meet it held by its own thread. */
struct leakwrap_lock {
	uint32_t word;
	struct leakwrap_mask mask; /* of the holder */
#ifndef LEAKWRAP_BARE
	_Atomic int forking;            /* the holder is in fork: its thread, else 0 ... */
	_Atomic uint32_t lent;          /* ... and has lent the lock to this thread, or 0 */
	struct leakwrap_mask lent_mask; /* of the thread that has it */
#endif
};
void leakwrap_lock(struct leakwrap_lock *lock);
bool leakwrap_trylock(struct leakwrap_lock *lock);
void leakwrap_unlock(struct leakwrap_lock *lock);

/* The same from before a fork until after it.  In fork the C library takes locks of its own.  A thread that holds one of these,
 * be it in a signal handler or in a function that the C library calls, and waits for this lock, would wait for ever: so
 * this lock is lent while the thread that forks sleeps, but not to one that is about to fork itself. */
void leakwrap_lock_for_fork(struct leakwrap_lock *lock);
void leakwrap_unlock_after_fork(struct leakwrap_lock *lock, bool is_child);

/* -- time and process ---------------------------------------------------------------------------- */

uint64_t leakwrap_time_monotonic(void); /* nanoseconds */
int64_t leakwrap_time_utc(void);        /* seconds since 1970 */
uint64_t leakwrap_time_boot(void);      /* hundredths of a second since the machine started */
int leakwrap_process_id(void);
int leakwrap_process_parent_id(void); /* 0: in an outer PID namespace */
int leakwrap_thread_id(void);

/* What the kernel shows of a process.  Exec chooses the addresses, and fork keeps them. */
struct leakwrap_process_facts {
	uint64_t started;                      /* as leakwrap_time_boot has it */
	uintptr_t code_start, code_end, stack; /* 0: not shown to this user */
};

/* Returns false if there is no process PID, or the kernel does not show it.  Takes 1 KiB of
 * stack. */
bool leakwrap_process_facts(int pid, struct leakwrap_process_facts *facts);

/* Has THREAD of PROCESS ended?  When that cannot be told, it has not. */
bool leakwrap_thread_has_ended(int process, int thread);

/* The word that the kernel gave the program under TYPE, AT_* of <elf.h>; 0 when it gave none. */
uintptr_t leakwrap_auxiliary(unsigned type);

/* The value of the environment variable NAME, or NULL. */
const char *leakwrap_environment(const char *name);

/* The path by which the program was executed, perhaps a relative one; NULL when the kernel does not say. */
const char *leakwrap_process_started_as(void);

/* The program's name without its folder, cut to SIZE - 1 bytes. */
void leakwrap_process_name(char *name, size_t size);

/* Copies the words of the command line that started the program, each with its NUL, to COMMAND: at
 * most SIZE bytes. Returns how many bytes it copied, 0 if the command line is not known.  If there
 * are more words, all SIZE bytes are copied. */
size_t leakwrap_process_command(char *command, size_t size);

/* Was the program started with raised privileges, so that its environment must not be trusted? */
bool leakwrap_process_is_privileged(void);

/* Waits while *WORD is VALUE, at most NANOSECONDS; and wakes all who wait. */
void leakwrap_wait(_Atomic uint32_t *word, uint32_t value, uint64_t nanoseconds);
void leakwrap_wake(_Atomic uint32_t *word);

/* -- files --------------------------------------------------------------------------------------- */

/* Each returns what the system call does: negative errno values for errors. */
long leakwrap_open(const char *path, int flags, int mode);
long leakwrap_close(int fd);
long leakwrap_read(int fd, void *buffer, size_t size);
long leakwrap_write(int fd, const void *bytes, size_t size);
long leakwrap_fcntl(int fd, int command, long argument);

/* The size of the file, 0 when it is not known. */
uint64_t leakwrap_file_size(int fd);

/* Bytes of a file, read-only in memory, or NULL; and gives them back. */
const void *leakwrap_file_map(int fd, uint64_t offset, size_t size);
void leakwrap_file_unmap(const void *bytes, uint64_t offset, size_t size);

/* Waits until FD can be written to, at most NANOSECONDS. */
bool leakwrap_wait_writable(int fd, uint64_t nanoseconds);

/* Which file a descriptor is open on, to tell whether it is still the same. */
struct leakwrap_file {
	uint64_t device, inode;
	bool is_terminal;
	bool is_pipe;
	bool is_regular;
	bool is_append; /* opened with O_APPEND */
};

/* False when FD is not open. */
bool leakwrap_file_of(int fd, struct leakwrap_file *file);

#endif
