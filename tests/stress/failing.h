/* failing.h - switches the allocator's failures on and off (failing.c). */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>

extern bool failing_is_on, failing_is_over;

#endif
