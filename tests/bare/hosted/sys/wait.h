/* wait.h - there are no other processes. */
#ifndef HOSTED_SYS_WAIT_H
#define HOSTED_SYS_WAIT_H

#include <sys/types.h>

pid_t waitpid(pid_t pid, int *status, int options);

#endif
