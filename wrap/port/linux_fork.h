/* linux_fork.h - forks of the tracer's own, for leakwrap torture.  The child gets a failed
 * allocation and runs to its end.  The parent goes on as if nothing had happened.
 *
 * No function changes errno.  All may be called in signal handlers.
 */
#ifndef LEAKWRAP_LINUX_FORK_H
#define LEAKWRAP_LINUX_FORK_H

#include <stddef.h>

/* Maps the whole file PATH, which has at least LEAST bytes, so that this process shares the memory
 * with others.  Returns NULL on failure.  The mapping stays until the process ends. */
void *leakwrap_file_map_shared(const char *path, size_t least);

/* Returns why a child of this process would not stand alone, in words, or NULL if it would.  These
 * things are shared and would be disturbed: other threads, which a child does not have; files that
 * are open for writing; pipes, sockets and the like. */
const char *leakwrap_fork_obstacle(void);

/* Forks.  Returns 0 in the child, its process id in the parent, or a negative errno value.  The
 * child is the child of the parent's parent, and a process group of its own: this process gets no
 * SIGCHLD and need not wait for it.  The kernel kills the child if that parent ends.  Functions of
 * pthread_atfork(3) do not run. */
long leakwrap_fork_sibling(void);

/* In the child: opens the files that are open for reading again, so that reading them does not
 * move the parent's offsets.  Calls that fail change nothing. */
void leakwrap_fork_separate_files(void);

#endif
