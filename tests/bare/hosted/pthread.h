/* pthread.h - a thread is a task of rtos.h. It runs when another thread waits for it. */
#ifndef HOSTED_PTHREAD_H
#define HOSTED_PTHREAD_H

#include <sys/types.h>

int pthread_create(pthread_t *thread, const void *attributes, void *(*run)(void *), void *argument);
int pthread_join(pthread_t thread, void **result);

#endif
