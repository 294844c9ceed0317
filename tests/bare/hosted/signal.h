/* signal.h - there are no signals. The request for a dump dumps at once. */
#ifndef HOSTED_SIGNAL_H
#define HOSTED_SIGNAL_H

#include <sys/types.h>
#include <time.h>

#define SIGUSR1   10
#define SIG_BLOCK 0

int raise(int signo);

#undef sigemptyset
#undef sigaddset
int sigemptyset(sigset_t *set);
int sigaddset(sigset_t *set, int signo);
int sigprocmask(int how, const sigset_t *set, sigset_t *before);
int sigtimedwait(const sigset_t *set, void *info, const struct timespec *limit);

#endif
