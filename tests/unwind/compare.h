/* compare.h - compares the tracer's backtraces with libgcc's, see compare.c. */
#ifndef TESTS_UNWIND_COMPARE_H
#define TESTS_UNWIND_COMPARE_H

#include <stdbool.h>

/* Begins to compare. */
void compare_start(void);

/* Compares the backtraces of the caller. */
void compare_here(void);

/* Ends the comparison and prints the counts. Returns true if every walk was complete and equal. */
bool compare_report(void);

#endif
