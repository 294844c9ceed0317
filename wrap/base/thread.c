/* thread.c - the thread's variables.  See thread.h. */
#include "wrap/base/thread.h"

_Thread_local struct leakwrap_thread leakwrap_self;
extern _Thread_local struct leakwrap_thread leakwrap_self_after_call
        __attribute__((alias("leakwrap_self")));
