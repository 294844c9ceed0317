/* compare.h - see compare.c. */
#ifndef TESTS_UNWIND_COMPARE_H
#define TESTS_UNWIND_COMPARE_H

#include <stdbool.h>

/* Compares from now on. */
void compare_start(void);

/* Compares the backtraces of the caller. */
void compare_here(void);

/* Ends it and prints the counts; true when every walk was complete and equal. */
bool compare_report(void);

#endif
