/* fork.h - what becomes of the tracer at a fork. */
#ifndef LEAKWRAP_FORK_H
#define LEAKWRAP_FORK_H

/* Has the tracer called around each fork from now on (pthread_atfork(3)).  Called once. */
void leakwrap_fork_watch(void);

/* Forks past the C library, for leakwrap torture.  The program has a single thread.  Returns the
 * child's process id, 0 in the child, or a negative errno value. */
long leakwrap_fork_traced(void);

#endif
