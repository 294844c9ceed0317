/* port.h - all that the tracer asks of the operating system.
 *
 * port_linux.c answers by system calls.  Nothing here allocates, takes a lock of the C library, is a
 * cancellation point, or changes errno; all of it may be called from signal handlers.
 */
#ifndef LEAKWRAP_PORT_H
#define LEAKWRAP_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- pages --------------------------------------------------------------------------------------- */

/* Zero-filled pages for SIZE bytes (rounded up to pages), or NULL.  They take memory when they are
 * first touched, and are never backed by huge pages.  Counted by leakwrap_pages_mapped. */
void *leakwrap_pages_map(size_t size);
void leakwrap_pages_unmap(void *pages, size_t size);

/* Bytes of [PAGES, PAGES + SIZE) that take memory now. */
size_t leakwrap_pages_resident(const void *pages, size_t size);

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

/* -- lock ---------------------------------------------------------------------------------------- */

/* A lock for the paths that meet something new.  Signals are blocked while it is held, so that no
 * handler can meet it held by its own thread. */
struct leakwrap_lock {
	uint32_t word;
	struct leakwrap_mask mask; /* of the holder */
};
void leakwrap_lock(struct leakwrap_lock *lock);
void leakwrap_unlock(struct leakwrap_lock *lock);

/* -- time and process ---------------------------------------------------------------------------- */

uint64_t leakwrap_time_monotonic(void); /* nanoseconds */
int64_t leakwrap_time_utc(void);        /* seconds since 1970 */
int leakwrap_process_id(void);
int leakwrap_thread_id(void);

/* -- files --------------------------------------------------------------------------------------- */

/* Each returns what the system call does: negative errno values for errors. */
long leakwrap_open(const char *path, int flags, int mode);
long leakwrap_close(int fd);
long leakwrap_read(int fd, void *buffer, size_t size);
long leakwrap_write(int fd, const void *bytes, size_t size);

#endif
